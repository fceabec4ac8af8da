"""People's accounts, as each process opens them: which services there are, the pages, and the work of a worker."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from urllib.parse import urlsplit

from aiohttp.web import RouteDef

from abilities.accounts.accounts import Accounts
from abilities.accounts.connect.routes import ConnectRoutes
from abilities.accounts.connecting import Connecting
from abilities.accounts.idle_grants import Renewals
from abilities.accounts.kinds import CALENDAR, CONTACTS, MAIL
from abilities.accounts.links import ConnectLinkStore
from abilities.accounts.oauth import OAuthServers
from abilities.accounts.offers import ConnectOffers
from abilities.accounts.services import PASSWORDS, Services, google, microsoft, openid
from abilities.accounts.settings import AccountSettings
from abilities.accounts.token_refresh import FreshTokens
from abilities.accounts.trials import Trials
from abilities.accounts.types import OAuthClient, Scope, Service
from core.credentials.trial import Trial
from core.credentials.types import Ability
from core.errors import ConfigError
from core.http.guarded_client import GuardedClient
from core.ids import make_id
from core.tools.account_access import PeoplesAccounts
from onevalet.ability import Repeated
from onevalet.ability_registry import all_abilities
from onevalet.foundations import AccountsFoundation, Foundation, WebFoundation, WorkFoundation
from onevalet.settings import Settings

ANYWAY = timedelta(minutes=1)
"""The interval at which due accounts are looked for, even without any news of them."""


def open_accounts(stack: AsyncExitStack, foundation: AccountsFoundation) -> Accounts:
    """Return the access to all people's accounts; `stack` closes it."""
    return build_accounts(foundation, _open_http(stack, foundation))


def open_routes(stack: AsyncExitStack, foundation: WebFoundation) -> Sequence[RouteDef]:
    """Return the pages on which people connect accounts, with a way to the servers that they name."""
    http = _open_http(stack, foundation)
    connecting = build_connecting(foundation, build_accounts(foundation, http), http)
    return ConnectRoutes(connecting, http, Trials(account_trials())).routes()


def open_work(foundation: WorkFoundation) -> Sequence[Repeated]:
    """Return the upkeep of people's grants, which also reports those that ended."""
    accounts = foundation.opened.get(PeoplesAccounts)
    assert isinstance(accounts, Accounts)  # noqa: S101
    renewals = Renewals(foundation.database, accounts, foundation.notifier, foundation.clock)
    return [Repeated("accounts", ANYWAY, renewals.once, "accounts")]


def named_hosts(settings: Settings) -> Sequence[str]:
    """Return the hosts of the servers that the operator named for accounts."""
    servers = settings.of(AccountSettings).openid.values()
    return [urlsplit(server[key]).netloc for server in servers for key in server if "://" in server[key]]


def build_account_http(foundation: Foundation) -> GuardedClient:
    """Create the client for people's servers: the public internet, and hosts that the operator named."""
    return foundation.http(named_hosts(foundation.settings))


def build_accounts(foundation: AccountsFoundation, http: GuardedClient) -> Accounts:
    """Create the access to all people's accounts."""
    database, credentials, clock = foundation.database, foundation.credentials, foundation.clock
    tokens = FreshTokens(database, credentials, OAuthServers(http, clock), clock, make_id)
    services = build_services(foundation.settings)
    offers = ConnectOffers(_links(foundation), services, clock)
    return Accounts(credentials, services, tokens, offers)


def build_connecting(foundation: WebFoundation, accounts: Accounts, http: GuardedClient) -> Connecting:
    """Create the service that leads people through connecting an account."""
    clock = foundation.clock
    return Connecting(_links(foundation), accounts, OAuthServers(http, clock), clock, make_id, foundation.wakeups)


def build_services(settings: Settings) -> Services:
    """Return the services that people can connect here, each with the accesses that present abilities use.

    Of services with passwords only those are included that can be tried.
    """
    known = _known(settings.of(AccountSettings))
    trials, done = account_trials(), _done_in_accounts()
    services = [service.only(done) for service in known if service.client is not None or service.name in trials]
    return Services.of([service for service in services if service.offers or service.name not in _OURS], ())


_OURS = ("google", "microsoft", *(service.name for service in PASSWORDS))
"""The services that nobody connects for nothing. Another may be of use to tools of its own."""


def _known(settings: AccountSettings) -> Iterable[Service]:
    if secret := settings.onevalet_google_client_secret:
        yield google(settings.onevalet_google_client_id or "", secret.get_secret_value())
    if secret := settings.onevalet_microsoft_client_secret:
        directory = settings.onevalet_microsoft_directory
        yield microsoft(settings.onevalet_microsoft_client_id or "", secret.get_secret_value(), directory)
    for name, server in settings.openid.items():
        yield _openid(name, server)
    yield from PASSWORDS


def _openid(name: str, server: Mapping[str, str]) -> Service:
    always = ("openid", "email", *server.get("scopes", "").split())
    client = OAuthClient(server["client_id"], server.get("client_secret", ""), server["issuer"], always=always)
    groups = {"mail_scope": MAIL, "calendar_scope": CALENDAR, "contacts_scope": CONTACTS}
    scopes = [Scope(server[key], allows) for key, allows in groups.items() if key in server]
    servers = {key: server[key] for key in ("imap", "smtp", "caldav", "carddav") if key in server}
    return openid(name, server.get("label") or name.capitalize(), client, servers, scopes)


def _done_in_accounts() -> frozenset[Ability]:
    """Return the accesses that the present abilities declare. Raises `ConfigError` for an unknown access."""
    known = {access.value: access for access in Ability}
    for ability in all_abilities():
        if strange := [access for access in ability.access if access not in known]:
            raise ConfigError(f"The ability {ability.name} has access={strange[0]!r}: write one of {', '.join(known)}.")
    return frozenset(known[access] for ability in all_abilities() for access in ability.access)


def account_trials() -> Mapping[str, Callable[[], Trial]]:
    """Return the loaders of password trials, by the service whose accounts they open."""
    return {service: load for ability in all_abilities() for service, load in ability.trials.items()}


def _links(foundation: AccountsFoundation) -> ConnectLinkStore:
    return ConnectLinkStore(foundation.database, foundation.settings.public_url, foundation.credentials.keys)


def _open_http(stack: AsyncExitStack, foundation: Foundation) -> GuardedClient:
    http = build_account_http(foundation)
    stack.push_async_callback(http.close)
    return http
