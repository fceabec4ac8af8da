"""What proves to a remote MCP server whose account is used, for the command line."""

from collections.abc import Mapping

from core.clock import Clock
from core.credentials.store import CredentialStore
from core.errors import ConfigError, ToolError
from core.mcp.types import McpServer
from onevalet.cli.session import one_tenant, open_database, system_keys
from onevalet.settings import Settings
from onevalet.wiring.accounts import build_account_http, build_accounts


async def login_headers(settings: Settings, server: McpServer, tenant: str) -> Mapping[str, str]:
    """Return the headers of a person's account; raise `ConfigError` where nobody has one that serves."""
    http = build_account_http(settings)
    try:
        async with open_database(settings, "mcp") as database:
            owner = await one_tenant(
                database, tenant, several=f"{server.name} needs an account: say whose by --tenant."
            )
            credentials = CredentialStore(database, system_keys(settings))
            accounts = build_accounts(settings, database, credentials, http, Clock())
            opened = await accounts.for_tenant(owner).open(server.account or "")
    except ToolError as error:
        raise ConfigError(f"{server.name} needs an account: {error}") from error
    finally:
        await http.close()
    return {"Authorization": f"Bearer {opened.secret}"}
