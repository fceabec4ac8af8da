"""The MCP server that people's programs reach; the only module that imports the SDK's server."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from aiohttp import web
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from core.errors import StoreUnavailable
from operations.programs.tokens import Client
from operations.programs.tools import INSTRUCTIONS, ClientTools, away

CLIENT = "onevalet.client"
"""The key in a request's scope under which the calling program is stored."""
_UNKNOWN = "The token is not good any more."

type Who = Callable[[Any], Awaitable[Client | None]]
"""Returns the program behind a request of the SDK; None if its token is no longer valid."""


def build_server(tools: ClientTools, who: Who, version: str) -> "Server[Any]":
    """Return a server of these tools."""

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=tool.schema,
                    annotations=types.ToolAnnotations(
                        read_only_hint=tool.reads, destructive_hint=False, open_world_hint=not tool.reads
                    ),
                )
                for tool in tools.all()
            ]
        )

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = dict(params.arguments or {})
        try:
            client = await who(context.request)
        except StoreUnavailable:
            told = away(params.name, arguments)
        else:
            if client is None:
                return types.CallToolResult(content=[types.TextContent(type="text", text=_UNKNOWN)], is_error=True)
            told = await tools.call(client, params.name, arguments)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=told.text)],
            structured_content=dict(told.data),
            is_error=told.failed,
        )

    return Server(
        "onevalet", version=version, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )


class HttpServer:
    """Answers requests over HTTP, each by itself: a web process keeps no session that another would not know."""

    def __init__(self, tools: ClientTools, version: str) -> None:
        self._manager = StreamableHTTPSessionManager(
            build_server(tools, _named_in_scope, version), stateless=True, json_response=True
        )
        self._running: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    async def start(self) -> None:
        """Begin to answer."""
        ready = asyncio.Event()
        self._running = asyncio.create_task(self._run(ready), name="MCP server")
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait([waiting, self._running], return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            self._running.result()

    async def close(self) -> None:
        """End the open requests."""
        self._stop.set()
        if self._running is not None:
            with suppress(asyncio.CancelledError):
                await self._running

    async def answer(self, request: web.Request, client: Client) -> web.Response:
        """Answer a request whose program has proved itself."""
        body, parts = await request.read(), list[bytes]()
        begun: dict[str, Any] = {"status": 500, "headers": []}
        given = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> Any:
            return next(given, None) or await _never()

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                begun.update(message)
            elif message["type"] == "http.response.body":
                parts.append(message.get("body", b""))

        await self._manager.handle_request(_scope(request, client), receive, send)
        names = (b"content-type", b"allow", b"mcp-protocol-version")
        headers = {key.decode(): value.decode() for key, value in begun["headers"] if key.lower() in names}
        return web.Response(status=begun["status"], body=b"".join(parts), headers=headers)

    async def _run(self, ready: asyncio.Event) -> None:
        async with self._manager.run():
            ready.set()
            await self._stop.wait()


async def serve_pipes(tools: ClientTools, who: Who, version: str) -> None:
    """Serve the program that started this process, until it ends."""
    from mcp.server.stdio import stdio_server

    server = build_server(tools, who, version)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _named_in_scope(request: Any) -> Client | None:
    client = request.scope.get(CLIENT) if request is not None else None
    return client if isinstance(client, Client) else None


async def _never() -> Any:
    await asyncio.Event().wait()


def _scope(request: web.Request, client: Client) -> dict[str, Any]:
    headers = [
        (name.lower().encode(), value.encode())
        for name, value in request.headers.items()
        if name.lower() != "authorization"
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": None,
        "server": None,
        CLIENT: client,
    }
