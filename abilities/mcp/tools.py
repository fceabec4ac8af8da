"""The accepted tools of MCP servers as tools of the assistant.

Each needs approval unless its server says that it only reads and the operator says so too. Every result was written by
third parties.
"""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import structlog
from pydantic import BaseModel

from abilities.mcp.checks import Node
from abilities.mcp.connections import Connections
from abilities.mcp.errors import (
    AnswerTooLarge,
    AnswerUnreadable,
    DefinitionChanged,
    ErrorAnswered,
    LoginRefused,
    NoAnswer,
    ServerAway,
    ServerLost,
    ToolGone,
    Unreadable,
)
from abilities.mcp.schema import parameters_of, translate
from abilities.mcp.types import Definition, McpServer, ServerReply
from abilities.mcp.wording import Unusable, shown_description, suspicions, usable_parameters, words_of
from core.errors import RefusedLogin, StoreUnavailable, ToolFailed, ToolRetry
from core.journal.types import Effect, Outcome, StepKey
from core.json_types import Json, JsonObject
from core.language.catalogue import gettext
from core.llm.types import ToolCall, ToolSpec
from core.replies import note
from core.tools.accepted import AcceptedDefinitions
from core.tools.account_argument import ACCOUNT, ACCOUNT_SAYS
from core.tools.context import ToolExecutionContext
from core.tools.results import ToolEnd
from core.tools.schema import Signature
from core.tools.tool import AnyTool, Described, Tool

SEPARATOR = "__"
"""Separates a server's name from its tool's: no name of ours has it, so no server can take the name of another's."""
RESOURCES = "resources"
READ = "read_resource"
_REFRESH = 10.0
"""Seconds for which a worker relies on its copy of the accepted definitions."""
_GRACE = 5.0
_MAX_NAME = 64
_ADDRESSES = frozenset({"url", "urls", "uri", "uris", "link", "links", "href", "endpoint", "website", "webhook"})

_REPORTS = "The server reports an error: "
_UNKNOWN = "It may or may not have done what was asked, and it was not asked again: the outcome is unknown." + note(
    "Do not call it again with the same arguments; tell the person what is uncertain."
)

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool(Tool[..., object]):
    """A tool of an MCP server as the model sees it."""

    server: McpServer
    definition: Definition
    parameters: Node
    connections: Connections

    @property
    def in_thread(self) -> bool:
        return False

    @property
    def spec(self) -> ToolSpec:
        # The accepted definition, word for word.
        return ToolSpec(self.name, self.description, self.shown or self.signature.schema)

    @property
    def place(self) -> str:
        return f"the MCP server {self.server.name}"

    def parse(self, arguments: Json) -> dict[str, Any]:
        """Check arguments against the server's schema. Raises `ToolRetry` with the corrections for the model."""
        if not isinstance(arguments, dict):
            raise ToolRetry(f"The arguments of {self.name} must be one JSON object.")
        given = {name: value for name, value in arguments.items() if name != ACCOUNT or not self.server.account}
        if problems := self.parameters.problems(given):
            raise ToolRetry(f"The arguments of {self.name} are not right: {'; '.join(problems)}.")
        return dict(given)

    async def run_call(
        self, key: StepKey, call: ToolCall, arguments: Mapping[str, object], context: ToolExecutionContext
    ) -> ToolEnd:
        """Run it; if the call's outcome is unknown, say so, and why."""
        try:
            return await super(McpTool, self).run_call(key, call, arguments, context)
        except ServerLost as error:
            told = self._lost(error)
            _log.warning("mcp_call_lost", server=self.server.name, cause=type(error).__name__)
            if self.effect is Effect.READ:
                raise ToolFailed(told) from error
            return ToolEnd(f"{told} {_UNKNOWN}", Outcome.UNKNOWN)

    async def run(self, arguments: Mapping[str, object], context: ToolExecutionContext) -> str:
        """Call the server, and return its answer as text; other content goes with the reply."""
        headers, login = await self._login(context)
        who = context.tenant_id if self.server.account else ""
        try:
            answer = await self._ask(cast(JsonObject, dict(arguments)), headers, who)
        except DefinitionChanged as error:
            _log.warning("mcp_definition_changed", server=self.server.name, tool=self.name)
            raise ToolFailed(
                f"{self.name} is not what was agreed to any more: its server describes it differently now, and the "
                "operator has to accept that first. Nothing was asked of it."
            ) from error
        except ToolGone as error:
            raise ToolFailed(f"The server {self.server.name} does not offer this tool any more.") from error
        except Unreadable as error:
            raise ToolFailed(
                f"What the server {self.server.name} answers cannot be read. Nothing was asked of it."
            ) from error
        except ServerAway as error:
            raise ToolFailed(
                f"The server {self.server.name} cannot be reached now. Nothing was asked of it."
            ) from error
        except LoginRefused as error:
            raise ToolFailed(f"The server {self.server.name} refuses the login.", refused=login) from error
        except ErrorAnswered as error:
            # Its words are its own: they go to the model as a result does, marked as data.
            return f"{_REPORTS}{error}"
        return await _told(answer, context)

    def _lost(self, error: ServerLost) -> str:
        """Return a sentence for the person about a call with an unknown outcome."""
        match error:
            case AnswerTooLarge():
                return gettext(
                    "The server {host} sent too much data, so I leave it alone for now.", host=self.server.name
                )
            case AnswerUnreadable():
                return f"What the server {self.server.name} answered cannot be read."
            case NoAnswer():
                return f"The server {self.server.name} gave no answer in time."
        return f"The connection with the server {self.server.name} ended before it answered."

    async def _ask(self, arguments: JsonObject, headers: Mapping[str, str], who: str) -> ServerReply:
        return await self.connections.call(self.server.name, self.definition, arguments, headers, who)

    async def _login(self, context: ToolExecutionContext) -> tuple[Mapping[str, str], RefusedLogin | None]:
        need = self.server.account
        if need is None:
            return {}, None
        opened = await context.accounts.open(need)
        account = opened.account
        refused = RefusedLogin(need, account.service, account.name, opened.secret)
        return {"Authorization": f"Bearer {opened.secret}"}, refused


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTool(McpTool):
    """Lists or reads a server's resources."""

    async def _ask(self, arguments: JsonObject, headers: Mapping[str, str], who: str) -> ServerReply:
        if self.definition.name == RESOURCES:
            return await self.connections.resources(self.server.name, headers, who)
        uri, listed = str(arguments["uri"]), await self.connections.resources(self.server.name, headers, who)
        if uri not in {line.partition(" ")[0] for line in listed.text.splitlines()}:
            # A made-up URI could carry the model's knowledge.
            raise ToolRetry(f"The server {self.server.name} lists no {uri[:200]!r}.")
        return await self.connections.read(self.server.name, uri, headers, who)


class McpTools:
    """The tools of all servers, from the accepted definitions. `taken` are the names of other tools."""

    def __init__(self, servers: Sequence[McpServer], accepted: AcceptedDefinitions, connections: Connections) -> None:
        self._servers = {server.name: server for server in servers}
        self._accepted = accepted
        self._connections = connections
        self._tools: Sequence[AnyTool] = ()
        self._read_at: float | None = None

    async def tools_for(self, tenant_id: str, described: Described) -> Sequence[AnyTool]:
        """Return the tools of a turn; the same for all people."""
        now = time.monotonic()
        if self._read_at is None or now - self._read_at >= _REFRESH:
            try:
                self._tools = await self._read()
            except StoreUnavailable:
                if self._read_at is None:
                    raise
            self._read_at = now
        return self._tools

    async def _read(self) -> Sequence[AnyTool]:
        accepted = [one for one in await self._accepted.list() if one.source in self._servers]
        tools = [
            tool
            for one in accepted
            if (server := self._servers[one.source]).allows(one.name)
            if (tool := mcp_tool(server, Definition.from_json(one.definition), self._connections)) is not None
        ]
        tools += [
            tool
            for server in self._servers.values()
            if server.resources
            for tool in resource_tools(server, self._connections)
        ]
        known = {tool.name: tool for tool in reversed(tools)}
        return [tool for tool in tools if known[tool.name] is tool]


def mcp_tool(server: McpServer, definition: Definition, connections: Connections) -> AnyTool | None:
    """Return the tool of a definition; None if it cannot be offered."""
    name = tool_name(server.name, definition.name)
    try:
        parameters = usable_parameters(definition, server)
    except Unusable:
        return None
    if name is None:
        return None
    reads = definition.reads and server.trusts_to_read(definition.name)
    return McpTool(
        **_common(server, definition, connections, name, parameters),
        effect=Effect.READ if reads else Effect.ONCE,
        needs_approval=not reads,
        risk="high" if server.is_high_risk(definition.name) else "",
    )


def resource_tools(server: McpServer, connections: Connections) -> Iterable[AnyTool]:
    """Return the two tools by which a server's resources are read."""
    uri: JsonObject = {"type": "string", "description": "As the list names it."}
    schemas: dict[str, tuple[str, JsonObject]] = {
        RESOURCES: ("List what can be read there.", {"type": "object", "properties": {}}),
        READ: ("Read one of them.", {"type": "object", "properties": {"uri": uri}, "required": ["uri"]}),
    }
    for name, (text, schema) in schemas.items():
        definition = Definition(name, text, schema, reads=True)
        full = f"{server.name}{SEPARATOR}{name}"
        yield ResourceTool(**_common(server, definition, connections, full, translate(schema)), effect=Effect.READ)


def tool_name(server: str, tool: str) -> str | None:
    """Return the name by which the model knows a server's tool; None if it would be too long or empty."""
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "_-") else "_" for char in tool)
    name = f"{server}{SEPARATOR}{plain}"
    return name if plain and len(name) <= _MAX_NAME else None


def _common(
    server: McpServer, definition: Definition, connections: Connections, name: str, parameters: Node
) -> dict[str, Any]:
    schema = parameters.shown
    properties = cast(JsonObject, schema["properties"])
    full = schema | {"properties": {**properties, ACCOUNT: {"type": "string", "description": ACCOUNT_SAYS}}}
    addresses = [key for key, value in parameters_of(schema).items() if key.lower() in _ADDRESSES or _is_address(value)]
    return {
        "name": name,
        "description": shown_description(server.name, definition),
        "fn": _never,
        "signature": Signature(BaseModel, full if server.account else schema, frozenset(properties), {}),
        "shown": schema if server.account else None,
        "accounts": (server.account,) if server.account else (),
        "group": server.name,
        "outside": True,
        "foreign_words": words_of(definition),
        "doubtful": bool(suspicions(definition)),
        "addresses": () if definition.name == READ else tuple(addresses),
        "timeout": server.timeout + _GRACE,
        "title": f"{server.name}: {definition.name}",
        "server": server,
        "definition": definition,
        "parameters": parameters,
        "connections": connections,
    }


async def _never(**_: object) -> None:
    """Stand for the function of a tool that has none here."""


def _is_address(schema: Json) -> bool:
    return isinstance(schema, dict) and schema.get("format") in ("uri", "url", "iri")


async def _told(answer: ServerReply, context: ToolExecutionContext) -> str:
    texts = [f"{_REPORTS}{answer.text}" if answer.failed else answer.text]
    for number, picture in enumerate(answer.pictures, start=1):
        ending = re.sub("[^a-z0-9]", "", picture.content_type.partition("/")[2].partition("+")[0])[:8] or "bin"
        texts.append(str(await context.files.put(f"file-{number}.{ending}", picture.data, picture.content_type)))
    return "\n".join(text for text in texts if text) or "Done."
