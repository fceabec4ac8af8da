"""Which modules open connections, found in their source, and which client of whose server each of them is."""

import ast
from collections.abc import Iterator, Mapping

type Found = dict[str, set[str]]
"""What opens connections in each module, by the module's path."""

_OPENERS = frozenset(
    {
        "aiohttp.ClientSession",
        "aiohttp.request",
        "asyncio.create_subprocess_exec",
        "asyncio.create_subprocess_shell",
        "asyncio.open_connection",
        "asyncio.open_unix_connection",
        "asyncpg.connect",
        "asyncpg.create_pool",
        "providers.provider_httpx.client_options",
        "core.http.provider_session.open_session",
        "core.http.sockets.open_socket",
        "providers.models.guarded_openai.guarded_client",
        "socket.create_connection",
        "urllib.request.urlopen",
    }
)
"""What opens a connection when it is called: our own ways, too, since their callers choose the server."""
_METHODS = frozenset(
    {"acompletion", "aembedding", "atranscription", "create_connection", "create_unix_connection", "from_url"}
    | {"open_connection", "open_unix_connection", "sock_connect", "start_tls", "urlopen", "ws_connect"}
)
"""The same of objects, such as a loop or a session: whatever these are called."""
_LIBRARIES = frozenset(
    {
        "aioimaplib",
        "aiosmtplib",
        "boto3",
        "ftplib",
        "http.client",
        "httpx",
        "imaplib",
        "mcp.client",
        "openai",
        "paramiko",
    }
    | {"poplib", "requests", "smtplib", "socks", "telnetlib", "urllib3", "websocket", "websockets", "xmlrpc.client"}
)
"""What nobody imports who opens no connection."""

PEERS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "web pages, DAV, OAuth and MCP over HTTP": (("core/http/guarded_client.py",), "web fetch"),
    "MCP over HTTP": (("abilities/mcp/sdk.py",), "MCP over HTTP"),
    "MCP over pipes": (("abilities/mcp/pipes.py",), "MCP over pipes"),
    "sockets to a person's mail server": (("core/http/sockets.py",), "IMAP, tried"),
    "IMAP": (("providers/email/imap_wire.py",), "IMAP, read"),
    "SMTP": (("providers/email/smtp.py",), "SMTP, sent"),
    "push": (("notify/push/send.py",), "ntfy"),
    "transcription": (("providers/models/guarded_openai.py", "providers/models/transcription.py"), "transcription"),
    "providers' SDKs that use httpx": (("providers/provider_httpx.py", "providers/telegram/client.py"), ""),
    "providers' SDKs that use aiohttp": (
        ("core/http/provider_session.py", "providers/sms/client.py", "providers/slack/client.py"),
        "",
    ),
    "Slack's sockets": (("channels/slack/sockets.py",), ""),
    "models": (("providers/models/direct/transport.py",), "model"),
    "models by litellm": (
        (
            "providers/models/litellm_path.py",
            "providers/models/embedding.py",
            "providers/models/litellm_hearing.py",
            "providers/models/cloud_tokens.py",
        ),
        "model by litellm",
    ),
}
"""Clients of servers that others run: their modules, and the case of `tests.faults.peers.clients` that stands for
them; none where `WITHOUT_CASE` says why."""
_PROVIDER = "its server is the provider's, which nobody names; tests/contract/test_strange_answers.py stands for it"
WITHOUT_CASE: Mapping[str, str] = {
    "providers' SDKs that use httpx": _PROVIDER,
    "providers' SDKs that use aiohttp": _PROVIDER,
    "Slack's sockets": _PROVIDER,
}
"""Why a client of others' servers has no case."""
OURS: Mapping[str, str] = {
    "operations/backups/programs.py": "pg_dump and pg_restore, on this machine",
    "core/db/connector.py": "Postgres",
    "core/db/database.py": "Postgres",
    "core/db/redis_client.py": "Redis",
    "operations/partitions/router.py": "Postgres",
    "workbench/dev/bench/breaking.py": "Redis of the bench",
    "workbench/dev/bench/replays.py": "a process of the bench",
    "onevalet/servers/postgres.py": "the embedded Postgres",
    "onevalet/servers/serving_login.py": "the embedded Postgres",
    "onevalet/servers/valkey.py": "the embedded Valkey",
    "workbench/dev/model/proof.py": "a process of dev",
    "operations/doctor/address.py": "the operator's own public address",
    "onevalet/init/local_servers.py": "model servers on this machine",
    "workbench/scenarios/calendar_server.py": "the calendar server of tests, a process on this machine",
    "workbench/scenarios/outside.py": "our own doors, in tests",
    "workbench/simulator/base.py": "the product that the simulator speaks to",
}
"""Modules that reach only our own servers, or the operator's, and which."""


def openers(files: Mapping[str, str]) -> Found:
    """Return the modules that open connections, and by what, of sources by their path."""
    found = {path: set(_in(ast.parse(source))) for path, source in files.items()}
    return {path: by for path, by in found.items() if by}


def problems(found: Found, known: Mapping[str, str]) -> list[str]:
    """Return what opens connections and is not known, and what is known and opens none; `known` by path."""
    unknown = [f"{path} opens connections ({', '.join(sorted(found[path]))})" for path in found if path not in known]
    return unknown + [f"{path} opens no connection" for path in known if path not in found]


def known_modules() -> dict[str, str]:
    """Return each known module, and what it is."""
    peers = {module: name for name, (modules, _) in PEERS.items() for module in modules}
    return peers | dict(OURS)


def _in(tree: ast.Module) -> Iterator[str]:
    names = dict(_names(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = _full(node.func, names)
            if called in _OPENERS or (isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS):
                yield called
    yield from (full for full in names.values() if any(f"{full}.".startswith(f"{one}.") for one in _LIBRARIES))


def _names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield what the names of imports stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((item.asname or item.name, item.name) for item in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((item.asname or item.name, f"{node.module}.{item.name}") for item in node.names)


def _full(called: ast.expr, names: Mapping[str, str]) -> str:
    first, dot, rest = ast.unparse(called).partition(".")
    return names.get(first, first) + dot + rest
