"""A scripted server, and connections with it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from core.http.client import GuardedClient
from core.http.peer import Pauses
from core.mcp.connections import Connections
from core.mcp.types import McpServer
from tests.servers.mcp import ScriptedMcp


@pytest.fixture
def script(tmp_path: Path, mcp_forks: tuple[str, ...]) -> ScriptedMcp:
    """Return a server that offers nothing yet."""
    made = ScriptedMcp(tmp_path / "server.json", program=mcp_forks)
    made.offers()
    return made


@pytest.fixture
async def connect() -> AsyncIterator[Callable[..., Connections]]:
    """Return what connects with servers, on loopback too."""
    async with AsyncExitStack() as stack:

        def connections(
            *servers: McpServer, hosts: tuple[str, ...] = ("127.0.0.1",), pauses: Pauses | None = None
        ) -> Connections:
            named = [server.url.split("/")[2] for server in servers if server.url and hosts]
            http = GuardedClient(allowed_hosts=named)
            made = Connections(servers, http, pauses)
            stack.push_async_callback(http.close)
            stack.push_async_callback(made.close)
            return made

        yield connections
