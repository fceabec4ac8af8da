"""Servers that are scripted or hostile, and connections with them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from abilities.mcp.connections import Connections
from abilities.mcp.types import McpServer
from core.http.guarded_client import GuardedClient
from core.http.peer import Pauses
from tests.abilities.mcp.hostile import Script
from tests.abilities.mcp.houses import House, over_http, over_pipes
from tests.patience import PATIENCE
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


@pytest.fixture
async def at_http(tmp_path: Path) -> AsyncIterator[tuple[Script, McpServer]]:
    """Yield a hostile server on loopback."""
    async with over_http(tmp_path) as served:
        yield served


@pytest.fixture(params=["pipes", "http"])
def hurried(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    at_http: tuple[Script, McpServer],
    connect: Callable[..., Connections],
) -> Callable[[float], House]:
    """Return a hostile server over its pipes, and one by HTTP, that have so many seconds."""
    script, server = at_http if request.param == "http" else over_pipes(tmp_path)

    def house(seconds: float) -> House:
        patient = replace(server, timeout=seconds)
        return House(script, patient, connect(patient))

    return house


@pytest.fixture
def house(hurried: Callable[[float], House]) -> House:
    """Return a hostile server over its pipes, and one by HTTP."""
    return hurried(PATIENCE)
