"""The commands of operators on accounts: print a link to connect an account, and list a person's accounts."""

from abilities.accounts.accounts import Accounts
from abilities.accounts.kinds import KIND_NAMES, KINDS
from abilities.accounts.links import ConnectLinkStore
from abilities.accounts.offers import ConnectOffers
from abilities.accounts.opening import build_services
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.credentials.types import Account
from core.errors import ConfigError, ToolFailed, ToolRetry
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import one_tenant, open_database, reach, system_keys
from onevalet.settings import Settings


async def print_link(settings: Settings, service: str, account: str, tenant: str) -> None:
    """Print the reply to the person, with the link. Raises `ConfigError` if there can be no link."""
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


async def print_accounts(settings: Settings, tenant: str, *, as_json: bool) -> None:
    """List a person's accounts, without secrets."""
    async with open_database(settings, "accounts") as database:
        tenant = await one_tenant(database, tenant)
        credentials = CredentialStore(database, system_keys(settings))
        listed = await Accounts(credentials, build_services(settings)).list(tenant)
    if as_json:
        say_json([_as_json(account) for account in listed])
        return
    for account in listed:
        chosen = [KIND_NAMES[kind] for kind in KINDS if kind in account.preferred_for]
        notes = [f"used for {' and '.join(chosen)}"] if chosen else ["used where none is named"]
        notes = notes if chosen or account.preferred else []
        notes += ["has to be renewed"] if account.revoked else []
        able = ", ".join(sorted(account.abilities)) or "-"
        say(f"{account.service:<12} {account.name:<28} {account.address:<28} {able}  {'; '.join(notes)}".rstrip())
    if not listed:
        say(f"{tenant} has connected nothing.")


def _as_json(account: Account) -> dict[str, object]:
    return {
        "service": account.service,
        "name": account.name,
        "address": account.address,
        "abilities": sorted(account.abilities),
        "preferred": account.preferred,
        "preferred_for": sorted(account.preferred_for),
        "revoked": account.revoked,
    }
