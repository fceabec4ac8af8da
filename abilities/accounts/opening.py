"""People's accounts elsewhere: which services there are, access to them, and connecting them."""

from urllib.parse import urlsplit

from abilities.accounts.accounts import Accounts
from abilities.accounts.connecting import Connecting
from abilities.accounts.kinds import CALENDAR, CONTACTS, MAIL
from abilities.accounts.links import ConnectLinkStore
from abilities.accounts.oauth import OAuthServers
from abilities.accounts.offers import ConnectOffers
from abilities.accounts.services import PASSWORDS, Services, google, microsoft, openid
from abilities.accounts.token_refresh import FreshTokens
from abilities.accounts.types import OAuthClient, Scope, Service
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.http.guarded_client import GuardedClient
from core.ids import make_id
from core.queue.wakeups import Wakeups
from onevalet.settings import Settings
from onevalet.wiring.abilities import account_trials
from onevalet.wiring.http import guarded_client


def build_account_http(settings: Settings) -> GuardedClient:
    """Create the client for people's servers: the public internet, and hosts that the operator named."""
    named = (server[key] for server in settings.openid.values() for key in server if "://" in server[key])
    return guarded_client(settings, (urlsplit(url).netloc for url in named))


def build_accounts(
    settings: Settings, database: Database, credentials: CredentialStore, http: GuardedClient, clock: Clock
) -> Accounts:
    """Create the access to all people's accounts."""
    tokens = FreshTokens(database, credentials, OAuthServers(http, clock), clock, make_id)
    services = build_services(settings)
    offers = ConnectOffers(ConnectLinkStore(database, settings.public_url, credentials.keys), services, clock)
    return Accounts(credentials, services, tokens, offers)


def build_connecting(
    settings: Settings, database: Database, accounts: Accounts, http: GuardedClient, clock: Clock, wakeups: Wakeups
) -> Connecting:
    """Create what leads people through connecting an account."""
    links = ConnectLinkStore(database, settings.public_url, accounts.credentials.keys)
    return Connecting(links, accounts, OAuthServers(http, clock), clock, make_id, wakeups)


def build_services(settings: Settings) -> Services:
    """Return the services that people can connect here: of those with passwords the ones that can be tried."""
    further: list[Service] = []
    if secret := settings.onevalet_google_client_secret:
        further.append(google(settings.onevalet_google_client_id or "", secret.get_secret_value()))
    if secret := settings.onevalet_microsoft_client_secret:
        directory = settings.onevalet_microsoft_directory
        further.append(microsoft(settings.onevalet_microsoft_client_id or "", secret.get_secret_value(), directory))
    further += [_openid(name, server) for name, server in settings.openid.items()]
    trials = account_trials()
    return Services.of(further, [service for service in PASSWORDS if service.name in trials])


def _openid(name: str, server: dict[str, str]) -> Service:
    always = ("openid", "email", *server.get("scopes", "").split())
    client = OAuthClient(server["client_id"], server.get("client_secret", ""), server["issuer"], always=always)
    groups = {"mail_scope": MAIL, "calendar_scope": CALENDAR, "contacts_scope": CONTACTS}
    scopes = [Scope(server[key], allows) for key, allows in groups.items() if key in server]
    servers: dict[str, str] = {key: server[key] for key in ("imap", "smtp", "caldav", "carddav") if key in server}
    return openid(name, server.get("label") or name.capitalize(), client, servers, scopes)
