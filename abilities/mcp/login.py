"""The headers that prove a person's account to a remote MCP server, for the command line."""

from collections.abc import Mapping

from abilities.mcp.types import McpServer
from core.errors import ConfigError, ToolError
from onevalet.cli.session import one_tenant, open_accounts, open_database
from onevalet.settings import Settings


async def login_headers(settings: Settings, server: McpServer, tenant: str) -> Mapping[str, str]:
    """Return the headers of a person's account; raise `ConfigError` if no account serves."""
    try:
        async with open_database(settings, "mcp") as database:
            owner = await one_tenant(
                database, tenant, several=f"{server.name} needs an account: say whose by --tenant."
            )
            async with open_accounts(settings, database) as accounts:
                opened = await accounts.for_tenant(owner).open(server.account or "")
    except ToolError as error:
        raise ConfigError(f"{server.name} needs an account: {error}") from error
    return {"Authorization": f"Bearer {opened.secret}"}
