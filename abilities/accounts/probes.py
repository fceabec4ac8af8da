"""`doctor`'s checks of people's accounts: those to be connected again, and our clients at their services."""

import asyncio
from urllib.parse import urlsplit

from abilities.accounts.idle_grants import find_revoked
from abilities.accounts.links import CALLBACK
from abilities.accounts.oauth import GrantRevoked, OAuthRefused, OAuthServers, read_description
from abilities.accounts.opening import build_services, named_hosts
from abilities.accounts.types import OAuthClient, Service
from core.clock import Clock
from core.db.database import Database
from core.errors import ConfigError, ToolFailed
from core.messaging.channels import Check
from onevalet.settings import Settings
from operations.doctor.types import Area, Installation, Probe, over_database

_OURS = ("invalid_client", "unauthorized_client")
"""The errors of a server for a client that it does not know (RFC 6749 5.2)."""
SHOWN = 5
"""How many accounts are named."""


async def check_services(installation: Installation) -> list[Check]:
    """Check the pages on which people connect accounts, and ask each OAuth server whether it knows us; never raise."""
    settings = installation.settings
    services = build_services(settings)
    ours = [service for service in services if service.client]
    checks = [_pages(settings, [service.name for service in services if not service.client], ours)]
    if not ours:
        return checks
    try:
        http = installation.http(*named_hosts(settings))
    except ConfigError as error:
        return [*checks, Check("accounts", False, "cannot be connected", str(error))]
    try:
        servers = OAuthServers(http, Clock())
        return [*checks, *await asyncio.gather(*(_check(servers, service) for service in ours))]
    finally:
        await http.close()


def _pages(settings: Settings, by_password: list[str], ours: list[Service]) -> Check:
    url = settings.public_url.rstrip("/")
    names = ", ".join([*by_password, *(service.name for service in ours)])
    if not url:
        return Check("accounts", not ours, "people cannot connect any", "set PUBLIC_URL: the pages stand there")
    parts = urlsplit(url)
    safe = parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")
    fix = "" if safe else "let PUBLIC_URL begin with https://: passwords are typed there"
    return Check("accounts", safe, f"{names}; redirect URI {url}{CALLBACK}", fix)


async def _check(servers: OAuthServers, service: Service) -> Check:
    client, what = service.client, f"accounts: {service.name}"
    assert client is not None  # noqa: S101
    setting = f"ONEVALET_{service.name.upper()}"
    if client.endpoints is None:
        setting = f"ONEVALET_OIDC_{service.name.upper()}"
        try:
            problem = await _described(servers, service, client, setting)
        except ToolFailed as error:
            fix = f"correct {setting}_ISSUER, or name its host in ONEVALET_FETCH_HOSTS"
            return Check.failed(what, error, f"{client.issuer}: {error}", fix)
        if problem:
            return Check(what, False, *problem)
    try:
        await servers.refresh(client, "doctor-asks-whether-this-client-is-known")
    except GrantRevoked:
        pass  # it should refuse a token that it never granted
    except OAuthRefused as error:
        if error.error in _OURS:
            fix = f"correct {setting}_CLIENT_ID and {setting}_CLIENT_SECRET"
            return Check(what, False, f"{client.issuer} does not know this client", fix)
    except ToolFailed as error:
        fix = "see whether it is away, or its address wrong"
        return Check.failed(what, error, f"{client.issuer}: {error}", fix)
    return Check(what, True, f"{client.issuer} answers")


async def _described(
    servers: OAuthServers, service: Service, client: OAuthClient, setting: str
) -> tuple[str, str] | None:
    """Return the mistake in a server's own description, and the fix. Raises `ToolFailed`."""
    try:
        told = await servers.description(client)
    except OAuthRefused:
        return f"{client.issuer} does not describe itself", f"correct {setting}_ISSUER"
    try:
        read_description(client.issuer, told)
    except OAuthRefused:
        fix = f"set {setting}_ISSUER to exactly {str(told.get('issuer'))[:200]}, if that is the one"
        return f"{client.issuer} names itself otherwise, or misses an endpoint", fix
    methods, known = told.get("code_challenge_methods_supported"), told.get("scopes_supported")
    if isinstance(methods, list) and "S256" not in methods:
        return "it knows no PKCE with S256", "switch PKCE on for this client there"
    asked = (*client.always, *(scope.name for scope in service.scopes))
    if isinstance(known, list) and (strange := [scope for scope in asked if scope not in known]):
        return f"it knows no scope {', '.join(strange)}", f"correct {setting}_SCOPES and the other scopes of {setting}"
    return None


async def check_accounts(database: Database) -> list[Check]:
    """Check for accounts whose service lets us in no more; their people know, and only they can renew them."""
    revoked = await find_revoked(database)
    if not revoked:
        return []
    named = ", ".join(f"{account.service} of {account.tenant_id}" for account in revoked[:SHOWN])
    more = " …" if len(revoked) > SHOWN else ""
    detail = f"{len(revoked)} to be connected again by their people: {named}{more}"
    return [Check("accounts", True, detail, "`connect SERVICE --tenant TENANT` prints a link to pass on")]


PROBES = (
    Probe(Area.ACCOUNTS, "accounts", check_services, seconds=30.0),
    over_database(Area.ACCOUNTS, "accounts of people", check_accounts),
)
