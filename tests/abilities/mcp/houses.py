"""Hostile servers over both ways, and what connects with them."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from abilities.mcp.connections import Connections
from abilities.mcp.tools import McpTool, mcp_tool
from abilities.mcp.types import Definition, McpServer, ServerReply
from tests.abilities.mcp import hostile
from tests.abilities.mcp.hostile import Script
from tests.eventually import eventually
from tests.patience import PATIENCE

ACT = Definition("act", "Acts.", {"type": "object"})


def result(inside: str) -> str:
    """Return an answer with a result."""
    return f'{{"jsonrpc":"2.0","id":ID,"result":{inside}}}'


def words(inside: str) -> str:
    """Return an answer whose result is a text, given as JSON."""
    return result(f'{{"content":[{{"type":"text","text":{inside}}}]}}')


class House:
    """One hostile server, and what connects with it."""

    def __init__(self, script: Script, server: McpServer, connections: Connections) -> None:
        self.script = script
        self.server = server
        self.connections = connections

    async def call(self) -> ServerReply:
        """Call its tool."""
        return await self.connections.call("home", ACT, {})

    def tool(self, **server: Any) -> McpTool:
        """Return its tool as the assistant has it."""
        made: Any = mcp_tool(McpServer(self.server.name, **server), ACT, self.connections)
        assert isinstance(made, McpTool)
        return made


@asynccontextmanager
async def over_http(folder: Path) -> AsyncIterator[tuple[Script, McpServer]]:
    """Serve on loopback. A call is answered by events where `before` says something."""
    script = Script(folder)

    async def answer(request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        if "id" not in asked or "method" not in asked:
            return web.Response(status=202)
        headers = {"Content-Encoding": encoding.decode()} if (encoding := script.said("encoding")) else {}
        said = script.answer(asked)
        called = asked["method"] == "tools/call"
        if called:
            await eventually(lambda: not script.said("held"), "the leave to answer")
        before = script.said("before").splitlines() if called else []
        if not before:
            status = int(script.said("status", "200")) if called else 200
            headers["Content-Type"] = (script.said("type") if called else b"").decode() or "application/json"
            return web.Response(body=said, headers=headers, status=status)
        events = b"".join(b"data: " + line + b"\n\n" for line in [*before, said])
        return web.Response(body=events, content_type="text/event-stream")

    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/mcp", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    yield script, McpServer("home", url=f"http://127.0.0.1:{port}/mcp", timeout=PATIENCE)
    await runner.cleanup()


def over_pipes(folder: Path, **options: Any) -> tuple[Script, McpServer]:
    """Return a server that runs as a process."""
    command = (sys.executable, "-S", "-E", str(Path(hostile.__file__)), str(folder))
    return Script(folder), McpServer("home", command=command, **{"timeout": PATIENCE, **options})
