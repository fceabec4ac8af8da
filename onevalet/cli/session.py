"""The system that a command works on: a running `dev`, else that of the settings."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.credentials.secret_keys import SecretKeys
from core.db.database import Database
from core.errors import ConfigError
from onevalet.ability import Ability
from onevalet.foundations import Foundation
from onevalet.servers.home import find_running
from onevalet.settings import Settings
from onevalet.wiring.secret_keys import secret_keys, with_key_file

if TYPE_CHECKING:
    from core.tools.account_access import PeoplesAccounts

NOBODY = "Nobody is here yet."


@dataclass(frozen=True, slots=True)
class Reached:
    """The addresses to use. `gateway_url` and `simulator_url` are those of a running `dev`, else empty."""

    database_url: str
    redis_url: str
    gateway_url: str = ""
    simulator_url: str = ""


def reach(settings: Settings) -> Reached:
    """Return the addresses of the system; raise `ConfigError` when there is none."""
    running = find_running(settings.onevalet_home)
    if running is not None:
        return Reached(running.database_url, running.redis_url, running.url, running.simulator_url)
    if settings.database_url is None:
        raise ConfigError("OneValet is not running here: start `bin/dev`, or set DATABASE_URL and REDIS_URL.")
    redis = settings.redis_url.get_secret_value() if settings.redis_url else ""
    return Reached(settings.database_url.get_secret_value(), redis)


@asynccontextmanager
async def open_database(
    settings: Settings, name: str, *, refusals: tuple[type[Exception], ...] = (), size: int = 1
) -> AsyncIterator[Database]:
    """Yield the system's database. `refusals` raised in the block become `ConfigError`: the operator reads them."""
    database = Database(reach(settings).database_url, size=size, name=f"onevalet {name}")
    try:
        yield database
    except refusals as error:
        raise ConfigError(str(error)) from error
    finally:
        await database.close()


async def one_tenant(
    database: Database, tenant: str, *, nobody: str = NOBODY, several: str = "Say whose with --tenant."
) -> str:
    """Return the named tenant, else the only tenant; raise `ConfigError` if there is none or several."""
    if tenant:
        return await known_tenant(database, tenant)
    rows = await database.rows("select * from find_tenants(2)")
    if len(rows) != 1:
        raise ConfigError(several if rows else nobody)
    return str(rows[0]["tenant_id"])


async def known_tenant(database: Database, tenant: str) -> str:
    """Return the named tenant; raise `ConfigError` if there is none of this name."""
    if await database.tenant_row(tenant, "select 1 from tenants where tenant_id = $1") is None:
        raise ConfigError(f"There is no person {tenant}: `people list` names everybody.")
    return tenant


@asynccontextmanager
async def open_accounts(settings: Settings, database: Database) -> AsyncIterator["PeoplesAccounts"]:
    """Yield people's accounts, whose tokens are refreshed as they are used.

    Raises `ConfigError` if no ability opens accounts.
    """
    from core.clock import Clock
    from core.credentials.store import CredentialStore
    from onevalet.wiring.accounts import open_accounts as opened

    async with AsyncExitStack() as stack:
        credentials = CredentialStore(database, system_keys(settings))
        accounts = opened(stack, settings, database, credentials, Clock())
        if accounts is None:
            raise ConfigError("Nobody can connect an account to this assistant.")
        yield accounts


def foundation_of(ability: Ability, settings: Settings, database: Database) -> Foundation:
    """Return the dependencies of an ability's commands; raise `ConfigError` if an extra is missing."""
    from onevalet.wiring.abilities import build_foundation

    return build_foundation(ability, settings, database)


def system_keys(settings: Settings) -> SecretKeys:
    """Return the secret keys of the system, with the key file of a running `dev`."""
    if find_running(settings.onevalet_home) is not None:
        settings = with_key_file(settings, make=False)
    return secret_keys(settings)
