"""MCP servers: their tools for turns, and the connections behind them; nothing of it is loaded without a file."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from abilities.mcp.connections import Connections
from abilities.mcp.servers_file import read_servers
from abilities.mcp.settings import McpSettings
from abilities.mcp.tools import SEPARATOR, McpTools
from abilities.mcp.types import McpServer
from core.tools.accepted import AcceptedDefinitions
from onevalet.ability import Sources
from onevalet.foundations import Foundation


@dataclass(frozen=True, slots=True)
class Mcp:
    """The servers, their accepted tools, and the connections to them."""

    servers: tuple[McpServer, ...]
    accepted: AcceptedDefinitions
    connections: Connections

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Return the prefixes of their tool names."""
        return tuple(f"{server.name}{SEPARATOR}" for server in self.servers)

    def tools(self) -> McpTools:
        """Return the source of their tools."""
        return McpTools(self.servers, self.accepted, self.connections)


@asynccontextmanager
async def open_mcp(foundation: Foundation, file: Path) -> AsyncIterator[Mcp]:
    """Yield the servers of a file; no server is started before its use."""
    servers = tuple(read_servers(file))
    http = foundation.http(urlsplit(server.url).netloc for server in servers if server.url)
    connections = Connections(servers, http)
    try:
        yield Mcp(servers, AcceptedDefinitions(foundation.database, "mcp"), connections)
    finally:
        await connections.close()
        await http.close()


@asynccontextmanager
async def open_tools(foundation: Foundation) -> AsyncIterator[Sources]:
    """Yield the tools of the servers that ONEVALET_MCP names; nothing without it."""
    file = foundation.settings.of(McpSettings).onevalet_mcp
    if file is None:
        yield Sources()
        return
    async with open_mcp(foundation, file) as mcp:
        yield Sources([mcp.tools()], mcp.prefixes)
