"""MCP servers: their tools for turns, and the connections behind them; nothing of it is loaded without a file."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from core.db.database import Database
from core.mcp.connections import Connections
from core.mcp.servers_file import read_servers
from core.mcp.tools import SEPARATOR, McpTools
from core.mcp.types import McpServer
from core.tools.accepted import AcceptedDefinitions
from onevalet.settings import Settings
from onevalet.wiring.extras import require
from onevalet.wiring.http import guarded_client


@dataclass(frozen=True, slots=True)
class Mcp:
    """The servers, what is accepted of them, and the way to them."""

    servers: tuple[McpServer, ...]
    accepted: AcceptedDefinitions
    connections: Connections

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Return what the names of their tools begin with."""
        return tuple(f"{server.name}{SEPARATOR}" for server in self.servers)

    def tools(self) -> McpTools:
        """Return the source of their tools."""
        return McpTools(self.servers, self.accepted, self.connections)


@asynccontextmanager
async def open_mcp(settings: Settings, database: Database) -> AsyncIterator[Mcp]:
    """Yield what ONEVALET_MCP names, which must be set; no server is started before it is used."""
    assert settings.onevalet_mcp is not None  # noqa: S101 - its callers ask
    require("mcp", "ONEVALET_MCP", "unset it")
    servers = tuple(read_servers(settings.onevalet_mcp))
    http = guarded_client(settings, (urlsplit(server.url).netloc for server in servers if server.url))
    connections = Connections(servers, http)
    try:
        yield Mcp(servers, AcceptedDefinitions(database, "mcp"), connections)
    finally:
        await connections.close()
        await http.close()
