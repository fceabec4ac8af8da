"""`console link`: a link by which a person signs in to the console."""

from core.clock import Clock
from core.errors import ConfigError
from onevalet.cli.runner import say
from onevalet.cli.session import known_tenant, open_database, reach, system_keys
from onevalet.settings import Settings
from operations.console.sign_in import ConsoleSignIn


async def print_link(settings: Settings, tenant: str) -> None:
    """Print a link, by default for the owner. Raises `ConfigError` if no link can be made."""
    public_url = settings.public_url or reach(settings).gateway_url
    if not public_url:
        raise ConfigError("PUBLIC_URL is not set: set it to the address at which people reach `web`.")
    keys = system_keys(settings)
    async with open_database(settings, "console") as database:
        if tenant:
            await known_tenant(database, tenant)
        else:
            owner = await database.call("select tenant_id from console_owner()")
            if owner is None:
                raise ConfigError("There is no owner yet: admit yourself with `pair CODE --role owner`.")
            tenant = owner["tenant_id"]
        link = await ConsoleSignIn(database, public_url, keys).link(tenant, Clock(settings.onevalet_clock).now())
        say(link or "This person has had too many links today.")
