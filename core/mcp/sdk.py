"""The one module that imports the MCP SDK: sessions with servers, its values made ours, its errors too.

It offers servers nothing: neither the model (sampling), nor the person (elicitation), nor files (roots).
"""

import asyncio
import base64
import binascii
import json
import os
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import aiohttp
import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    Implementation,
    TextContent,
    TextResourceContents,
)

from core.http.address_guard import Barred
from core.http.client import GuardedClient
from core.json_types import Json, JsonObject, storable
from core.mcp.errors import LoginRefused, ServerAway, ServerLost, ServerRefused
from core.mcp.types import Answer, Definition, McpServer, Picture

_PAGES = 20
_MOST_TOOLS = 500
_MOST_TEXT = 200_000
_MOST_PICTURE = 5 * 1024 * 1024
_MOST_STREAM = 16 * 1024 * 1024
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "user-agent"})
_CLOSED = -32000


class Session:
    """A session with one server."""

    def __init__(self, client: Client, door: "_GuardedTransport | None" = None) -> None:
        self._client = client
        self._door = door
        self.era = str(client.protocol_version)

    async def tools(self) -> Sequence[Definition]:
        """Return the tools that the server offers."""
        found: list[Definition] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await self._ask(self._client.list_tools(cursor=cursor, cache_mode="bypass"))
            for tool in page.tools:
                hints = tool.annotations
                schema: JsonObject = storable(dict(tool.input_schema))
                found.append(
                    Definition(
                        storable(tool.name),
                        storable(tool.description or ""),
                        schema,
                        bool(hints and hints.read_only_hint),
                    )
                )
            cursor = page.next_cursor
            if cursor is None or len(found) >= _MOST_TOOLS:
                break
        return found[:_MOST_TOOLS]

    async def call(self, tool: str, arguments: JsonObject) -> Answer:
        """Call a tool."""
        return _answer(await self._ask(self._client.call_tool(tool, dict(arguments))))

    async def resources(self) -> str:
        """Return what there is to read, a line for each: its URI, name and description."""
        page = await self._ask(self._client.list_resources(cache_mode="bypass"))
        lines = [f"{item.uri} {item.name}: {item.description or ''}".rstrip(": ") for item in page.resources]
        return storable("\n".join(lines))[:_MOST_TEXT] or "There are no resources."

    async def read(self, uri: str) -> Answer:
        """Read a resource."""
        result = await self._ask(self._client.read_resource(uri, cache_mode="bypass"))
        texts, pictures = list[str](), list[Picture]()
        for content in result.contents:
            if isinstance(content, BlobResourceContents):
                _take_blob(content.blob, content.mime_type, texts, pictures)
            else:
                texts.append(content.text)
        return Answer(storable("\n".join(texts))[:_MOST_TEXT], tuple(pictures))

    async def _ask[T](self, asked: Awaitable[T]) -> T:
        try:
            return await asked
        except MCPError as error:
            if self._door is not None and self._door.unauthorized:
                raise LoginRefused from error
            if error.error.code == _CLOSED or (self._door is not None and self._door.failed):
                raise ServerLost(str(error)) from error
            raise ServerRefused(storable(error.error.message)[:500]) from error


@dataclass(slots=True)
class _Way:
    """How a server is reached: the SDK's transport, and ours beneath it where it is HTTP."""

    transport: AbstractAsyncContextManager[object]
    door: "_GuardedTransport | None" = None
    client: httpx2.AsyncClient | None = None


@asynccontextmanager
async def open_session(
    server: McpServer, http: GuardedClient, headers: Mapping[str, str] | None = None
) -> AsyncIterator[Session]:
    """Connect to a server for the block, in the era that it speaks. `headers` are added to those of the settings.

    Raises `ServerAway`, or `LoginRefused`, where that does not succeed within the server's timeout.
    """
    way = _way(server, http, headers or {})
    client = Client(
        way.transport,  # type: ignore[arg-type]
        read_timeout_seconds=server.timeout,
        client_info=Implementation(name="onevalet", version="0.1"),
        cache=None,
    )
    opened = False
    try:
        async with asyncio.timeout(server.timeout) as limit, client:
            limit.reschedule(None)
            opened = True
            yield Session(client, way.door)
    except Exception as error:  # the SDK's task groups wrap whatever it was
        if opened:
            raise _first_of(error) from error
        if way.door is not None and way.door.unauthorized:
            raise LoginRefused from error
        raise ServerAway(f"{server.name}: {type(_first_of(error)).__name__}") from error
    finally:
        if way.client is not None:
            await way.client.aclose()


def _way(server: McpServer, http: GuardedClient, headers: Mapping[str, str]) -> _Way:
    if server.command:
        command, *rest = server.command
        parameters = StdioServerParameters(command=command, args=rest, env=dict(server.env), cwd=server.folder)
        return _Way(_stdio(parameters))
    door = _GuardedTransport(http, server.timeout)
    client = httpx2.AsyncClient(transport=door, headers={**server.headers, **headers}, timeout=server.timeout)
    return _Way(streamable_http_client(server.url, http_client=client), door, client)


@asynccontextmanager
async def _stdio(parameters: StdioServerParameters) -> AsyncIterator[object]:
    """Start a server whose own log, which may hold anything, goes nowhere."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: ASYNC230 - it never blocks
        async with stdio_client(parameters, errlog=nowhere) as streams:
            yield streams


class _GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends the SDK's requests by the guarded client: to public addresses, and hosts that the operator named."""

    def __init__(self, http: GuardedClient, silence: float) -> None:
        self._http = http
        self._silence = silence
        self.unauthorized = False
        self.failed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        sent = {name: value for name, value in request.headers.items() if name.lower() not in _OURS}
        body = await request.aread()
        opened = self._http.stream(request.method, str(request.url), sent, body, self._silence)
        try:
            answer = await opened.__aenter__()
        except (Barred, aiohttp.ClientError, OSError) as error:
            self.failed = True
            raise httpx2.ConnectError(type(error).__name__, request=request) from error
        self.unauthorized = self.unauthorized or answer.status == 401
        headers = [(name, value) for name, value in answer.headers.items() if name.lower() not in _OURS]
        return httpx2.Response(answer.status, headers=headers, stream=_Body(self, answer, opened), request=request)


class _Body(httpx2.AsyncByteStream):
    """A response's body as it comes, up to a bound."""

    def __init__(
        self,
        door: _GuardedTransport,
        answer: aiohttp.ClientResponse,
        opened: AbstractAsyncContextManager[aiohttp.ClientResponse],
    ) -> None:
        self._door = door
        self._answer = answer
        self._opened = opened

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        try:
            async for chunk in self._answer.content.iter_any():
                received += len(chunk)
                if received > _MOST_STREAM:
                    self._door.failed = True
                    raise httpx2.ReadError("the answer is too long")
                yield chunk
        except (aiohttp.ClientError, OSError) as error:
            self._door.failed = True
            raise httpx2.ReadError(type(error).__name__) from error

    async def aclose(self) -> None:
        self._answer.close()
        await self._opened.__aexit__(None, None, None)


def _answer(result: CallToolResult) -> Answer:
    texts, pictures = list[str](), list[Picture]()
    for block in result.content:
        match block:
            case TextContent():
                texts.append(block.text)
            case EmbeddedResource(resource=resource) if isinstance(resource, BlobResourceContents):
                _take_blob(resource.blob, resource.mime_type, texts, pictures)
            case EmbeddedResource(resource=TextResourceContents() as resource):
                texts.append(resource.text)
            case _ if data := getattr(block, "data", ""):
                _take_blob(data, getattr(block, "mime_type", None), texts, pictures)
            case _:
                texts.append(f"{getattr(block, 'name', '')} {getattr(block, 'uri', '')}".strip())
    if not "".join(texts).strip() and result.structured_content is not None:
        texts = [_written(result.structured_content)]
    return Answer(storable("\n".join(texts))[:_MOST_TEXT], tuple(pictures), bool(result.is_error))


def _written(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _take_blob(data: str, content_type: str | None, texts: list[str], pictures: list[Picture]) -> None:
    try:
        decoded = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        texts.append("[Something that cannot be read.]")
        return
    if len(decoded) > _MOST_PICTURE:
        texts.append("[A file that is too large.]")
        return
    pictures.append(Picture(content_type or "application/octet-stream", decoded))


def _first_of(error: BaseException) -> Exception:
    """Return the first error of a group, however deep."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, Exception) else ServerLost(type(error).__name__)
