"""Sessions of the MCP SDK with servers, its values and errors made ours; only this and `streams` import the SDK.

It offers servers nothing: neither the model (sampling), nor the person (elicitation), nor files (roots). Its own log
is silent: it quotes what servers write.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import httpx2
import structlog
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import BlobResourceContents, CallToolResult, EmbeddedResource, Implementation, TextContent

from abilities.mcp.errors import (
    AnswerTooLarge,
    AnswerUnreadable,
    ErrorAnswered,
    LoginRefused,
    NoAnswer,
    ServerAway,
    ServerLost,
    Unreadable,
)
from abilities.mcp.hearing import MAX_ANSWER, Ear
from abilities.mcp.letters import clean
from abilities.mcp.mending import GIVEN, MOST_RESOURCES, MOST_TOOLS
from abilities.mcp.over_http import GuardedTransport
from abilities.mcp.parts import MAX_TEXT, Parts
from abilities.mcp.streams import HeardStream, SaidStream, over_pipes
from abilities.mcp.types import Definition, McpServer, ServerReply
from core.errors import OneValetError
from core.http.guarded_client import GuardedClient
from core.http.peer import PeerExceeded
from core.http.provider_session import silent_logger
from core.json_types import JsonObject, storable

_PAGES = 20
_MOST_NAME = 200
_MOST_LINE = 2_000
_MOST_REFUSAL = 500
_TIMEOUTS = frozenset({types.REQUEST_TIMEOUT, 408, 504})
"""Codes by which the SDKs, and gateways in front of servers, say that no answer came in time."""

_log = structlog.get_logger()
for _name in ("mcp", "client", "httpx2", "httpcore2"):
    silent_logger(_name)


class Session:
    """A session with a server. Every request raises `PeerExceeded` if the server exceeds its limits."""

    def __init__(self, client: Client, way: "_Way", server: McpServer) -> None:
        self._client = client
        self._way = way
        self._server = server
        self.era = str(client.protocol_version)

    async def tools(self, wanted: str = "") -> Sequence[Definition]:
        """Return the tools that the server offers, without those whose names cannot be typed.

        An unavailable page costs only its own tools; raise its error if `wanted` is not on the other pages.
        """
        listed, missed = await self._pages(self._client.list_tools, lambda page: page.tools, MOST_TOOLS)
        found = dict[str, Definition]()
        for tool in listed:
            if len(tool.name) <= _MOST_NAME and clean(tool.name) == tool.name:
                schema = cast(JsonObject, (tool.meta or {})[GIVEN])
                reads = bool(tool.annotations and tool.annotations.read_only_hint)
                found.setdefault(tool.name, Definition(tool.name, tool.description or "", schema, reads))
        if missed is not None and wanted and wanted not in found:
            raise missed
        return list(found.values())[:MOST_TOOLS]

    async def call(self, tool: str, arguments: JsonObject) -> ServerReply:
        """Call a tool. Raises `AnswerTooLarge` if the server exceeds its limits during the call."""
        self._way.acting = True
        try:
            with self._way.ear.answer():
                async with self._in_time():
                    result = await self._client.call_tool(tool, storable(arguments))
        except PeerExceeded as error:
            raise AnswerTooLarge(str(error)) from error
        return _answer(result)

    async def resources(self) -> str:
        """Return the resources, a line for each: its URI, name and description."""
        found, _ = await self._pages(self._client.list_resources, lambda page: page.resources, MOST_RESOURCES)
        listed = [f"{item.uri} {item.name}: {item.description or ''}" for item in found]
        lines = [clean(line[:_MOST_LINE]).rstrip(": ") for line in listed]
        return "\n".join(lines)[:MAX_TEXT] or "There are no resources."

    async def read(self, uri: str) -> ServerReply:
        """Read a resource."""
        with self._way.ear.answer():
            async with self._in_time():
                result = await self._client.read_resource(uri, cache_mode="bypass")
        parts = Parts()
        for content in result.contents:
            if isinstance(content, BlobResourceContents):
                parts.take_blob(content.blob, content.mime_type)
            else:
                parts.texts.append(content.text)
        return parts.answer()

    async def _pages[P, T](
        self, ask: Callable[..., Awaitable[P]], read: Callable[[P], Sequence[T]], most: int
    ) -> tuple[list[T], Exception | None]:
        """Return the entries on the pages of a list, and an unavailable page's error; raise that of the first page."""
        found, cursors, cursor = list[T](), set[str](), None
        ends = asyncio.get_running_loop().time() + self._server.timeout
        with self._way.ear.answer():
            for number in range(_PAGES):
                try:
                    async with self._in_time(ends):
                        page: Any = await ask(cursor=cursor, cache_mode="bypass")
                except (ErrorAnswered, AnswerUnreadable, NoAnswer) as error:
                    if not number:
                        raise
                    _log.warning("mcp_page_left_out", server=self._server.name, cause=type(error).__name__)
                    return found, error
                found += read(page)
                cursor = page.next_cursor
                # By the protocol of 2026, an empty cursor is valid; a repeated cursor leads nowhere.
                if cursor is None or cursor in cursors or len(found) >= most:
                    break
                cursors.add(cursor)
        return found, None

    @asynccontextmanager
    async def _in_time(self, ends: float | None = None) -> AsyncIterator[None]:
        """Give an answer its time, which `ends` by the loop's clock, and raise errors as our own."""
        whole = asyncio.get_running_loop().time() + self._server.timeout
        try:
            # The SDK's own time begins when the server has read the request, which it may never do.
            async with asyncio.timeout_at(ends or whole):
                yield
        except MCPError as error:
            raise self._meaning(error) from error
        except TimeoutError as error:
            raise self._way.ear.exceeded or NoAnswer("no answer in time") from error
        except Exception as error:  # the SDK raises many kinds for malformed answers
            raise self._way.ear.exceeded or AnswerUnreadable(type(error).__name__) from error

    def _meaning(self, error: MCPError) -> Exception:
        """Return the meaning of an error of the SDK: the server's own, or caused by its output."""
        door, code = self._way.door, error.error.code
        if (exceeded := self._way.ear.exceeded) is not None:
            return exceeded
        if door is not None and (ending := door.ending()) is not None:
            return ending
        if code == types.PARSE_ERROR:
            return AnswerUnreadable("not as it has to be")
        if code in _TIMEOUTS:
            return NoAnswer("no answer in time")
        if code == types.CONNECTION_CLOSED:
            return ServerLost("the connection ended")
        return ErrorAnswered(clean(error.error.message[:_MOST_LINE])[:_MOST_REFUSAL])


@dataclass(slots=True)
class _Way:
    """The connection to a server: the SDK's transport, over our guarded one if the server speaks HTTP.

    `acting`: a tool was called, so the connection may have ended after it took effect.
    """

    ear: Ear
    transport: AbstractAsyncContextManager[tuple[Any, Any]]
    door: GuardedTransport | None = None
    client: httpx2.AsyncClient | None = None
    acting: bool = False

    @asynccontextmanager
    async def heard(self) -> AsyncIterator[tuple[Any, Any]]:
        """Yield the streams of the transport, with incoming messages made storable."""
        async with self.transport as (incoming, outgoing):
            asked = dict[str, str]()
            yield HeardStream(incoming, self.ear, asked), SaidStream(outgoing, asked)


@asynccontextmanager
async def open_session(
    server: McpServer, http: GuardedClient, headers: Mapping[str, str] | None = None
) -> AsyncIterator[Session]:
    """Connect to a server for the block, in the era that it speaks. `headers` are added to those of the settings.

    Raises `ServerAway`, `LoginRefused` or `PeerExceeded` if that does not succeed within the server's timeout, and
    `AnswerTooLarge` or `ServerLost` if the connection ends after a tool was called.
    """
    way = _way(server, http, headers or {})
    client = Client(
        way.heard(),
        read_timeout_seconds=server.timeout,
        client_info=Implementation(name="onevalet", version="0.1"),
        cache=None,
    )
    try:
        async with AsyncExitStack() as stack:
            with way.ear.answer():
                async with asyncio.timeout(server.timeout):
                    await stack.enter_async_context(client)
            yield Session(client, way, server)
    except Exception as error:  # the SDK's task groups wrap any error
        raise _ending(way, server, error) from error
    finally:
        if way.client is not None:
            await way.client.aclose()


def _ending(way: _Way, server: McpServer, error: Exception) -> Exception:
    """Return the error that ended a session, or prevented it."""
    causes = list(_causes(error))
    if ours := next((one for one in causes if isinstance(one, OneValetError)), None):
        return ours
    first = causes[0]
    if (exceeded := way.ear.exceeded) is not None:
        return AnswerTooLarge(str(exceeded)) if way.acting else exceeded
    ending = way.door.ending() if way.door is not None else None
    if isinstance(ending, LoginRefused):
        return ending
    if way.acting:
        return ending or ServerLost(type(first).__name__)
    if isinstance(ending, AnswerUnreadable):
        return Unreadable(f"{server.name} answers in an encoding that was not asked for")
    return ServerAway(f"{server.name}: {type(first).__name__}")


def _way(server: McpServer, http: GuardedClient, headers: Mapping[str, str]) -> _Way:
    ear = Ear(server.name, server.timeout, remote=not server.command)
    if server.command:
        return _Way(ear, over_pipes(server, ear))
    door = GuardedTransport(http, server.timeout, ear)
    client = httpx2.AsyncClient(transport=door, headers={**server.headers, **headers}, timeout=server.timeout)
    over_http = streamable_http_client(server.url, http_client=client, max_sse_event_size=MAX_ANSWER)
    return _Way(ear, over_http, door, client)


def _answer(result: CallToolResult) -> ServerReply:
    # It was mended: there are texts in it, and things that are none.
    parts = Parts()
    for block in result.content:
        if isinstance(block, TextContent):
            parts.texts.append(block.text)
        elif isinstance(block, EmbeddedResource) and isinstance(block.resource, BlobResourceContents):
            parts.take_blob(block.resource.blob, block.resource.mime_type)
    return parts.answer(failed=bool(result.is_error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors of a group, however deep."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _causes(one)
    else:
        yield error
