"""`connect`: a link by which a person connects an account, for the operator to pass on."""

from abilities.accounts.links import ConnectLinkStore
from abilities.accounts.offers import ConnectOffers
from abilities.accounts.opening import build_services
from core.clock import Clock
from core.errors import ConfigError, ToolFailed, ToolRetry
from onevalet.cli.runner import say
from onevalet.cli.session import one_tenant, open_database, reach, system_keys
from onevalet.settings import Settings


async def print_link(settings: Settings, service: str, account: str, tenant: str) -> None:
    """Print what the person is told, with the link. Raises `ConfigError` where there can be none."""
    async with open_database(settings, "connect") as database:
        tenant = await one_tenant(database, tenant)
        links = ConnectLinkStore(database, settings.public_url or reach(settings).gateway_url, system_keys(settings))
        offers = ConnectOffers(links, build_services(settings), Clock(settings.onevalet_clock))
        try:
            row = await database.tenant_row(
                tenant, "select id from conversations where tenant_id = $1 order by created_at desc, id limit 1"
            )
            say(await offers.offer(tenant, row["id"] if row else None, service, account))
        except (ToolFailed, ToolRetry) as error:
            raise ConfigError(str(error)) from error
