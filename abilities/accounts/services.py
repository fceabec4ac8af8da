"""The table of services: the two with passwords, Google, Microsoft, and OpenID servers that the operator names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from abilities.accounts.kinds import CALENDAR, CONTACTS, MAIL
from abilities.accounts.types import Endpoints, OAuthClient, Scope, Service
from core.credentials.types import Ability
from core.language.catalogue import gettext_noop

EMAIL = Service("email", gettext_noop("email"), MAIL)
CALDAV = Service("caldav", gettext_noop("calendar and contacts"), CALENDAR | CONTACTS)
PASSWORDS = (EMAIL, CALDAV)

_GOOGLE_SCOPES = (
    Scope("https://mail.google.com/", MAIL),  # IMAP and SMTP take no narrower scope
    Scope("https://www.googleapis.com/auth/calendar.readonly", frozenset({Ability.CALENDAR_READ})),
    Scope("https://www.googleapis.com/auth/calendar", CALENDAR),
    Scope("https://www.googleapis.com/auth/carddav", CONTACTS),
)
_GOOGLE_SERVERS = {
    "imap": "imaps://imap.gmail.com:993",
    "smtp": "smtps://smtp.gmail.com:465",
    "caldav": "https://apidata.googleusercontent.com/caldav/v2/{address}/user",
    "carddav": "https://www.googleapis.com/carddav/v1/principals/{address}/",
}
_MICROSOFT_SCOPES = (
    Scope("https://outlook.office.com/IMAP.AccessAsUser.All", frozenset({Ability.MAIL_READ, Ability.MAIL_CHANGE})),
    Scope("https://outlook.office.com/SMTP.Send", frozenset({Ability.MAIL_SEND})),
)
_MICROSOFT_SERVERS = {"imap": "imaps://outlook.office365.com:993", "smtp": "smtp+starttls://smtp.office365.com:587"}
"""Microsoft has neither CalDAV nor CardDAV."""


@dataclass(frozen=True, slots=True)
class Services:
    """The services of an installation, by name."""

    by_name: Mapping[str, Service] = field(default_factory=lambda: {service.name: service for service in PASSWORDS})

    @classmethod
    def of(cls, further: Sequence[Service] = (), by_password: Sequence[Service] = PASSWORDS) -> "Services":
        """Return the services with passwords, and those for which the operator registered us."""
        return cls({service.name: service for service in (*further, *by_password)})

    def get(self, name: str) -> Service | None:
        return self.by_name.get(name)

    def __iter__(self) -> Iterator[Service]:
        return iter(self.by_name.values())


def google(client_id: str, secret: str) -> Service:
    """Return Google, for the client that the operator registered there."""
    endpoints = Endpoints(
        issuer="https://accounts.google.com",
        authorization="https://accounts.google.com/o/oauth2/v2/auth",
        token="https://oauth2.googleapis.com/token",  # noqa: S106 - an address
        jwks="https://www.googleapis.com/oauth2/v3/certs",
        revocation="https://oauth2.googleapis.com/revoke",
    )
    # Without `consent` a second grant brings no refresh token; the earlier grants stay part of the second.
    extra = {"access_type": "offline", "prompt": "consent", "include_granted_scopes": "true"}
    client = OAuthClient(client_id, secret, endpoints.issuer, endpoints, extra=extra)
    return Service("google", "Google", MAIL | CALENDAR | CONTACTS, client, _GOOGLE_SCOPES, _GOOGLE_SERVERS)


def microsoft(client_id: str, secret: str, directory: str = "common") -> Service:
    """Return Microsoft. `directory`: whose accounts may be connected, `common` for all."""
    base = f"https://login.microsoftonline.com/{directory}"
    tid = directory if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", directory) else "{tid}"
    endpoints = Endpoints(
        issuer=f"https://login.microsoftonline.com/{tid}/v2.0",
        authorization=f"{base}/oauth2/v2.0/authorize",
        token=f"{base}/oauth2/v2.0/token",
        jwks=f"{base}/discovery/v2.0/keys",
    )
    # Not every account has the claim `email`; `preferred_username` comes with `profile`.
    always = ("openid", "email", "profile", "offline_access")
    client = OAuthClient(client_id, secret, endpoints.issuer, endpoints, always=always)
    manage = "https://account.live.com/consent/Manage"
    return Service("microsoft", "Microsoft", MAIL, client, _MICROSOFT_SCOPES, _MICROSOFT_SERVERS, manage)


def openid(
    name: str, label: str, client: OAuthClient, servers: Mapping[str, str], scopes: Sequence[Scope] = ()
) -> Service:
    """Return a service with an OpenID server of the operator's choice.

    `servers` are as in `OpenAccount`, and determine the abilities of its accounts.
    """
    return Service(name, label, abilities_of(servers), client, scopes, servers)


def abilities_of(servers: Mapping[str, str]) -> frozenset[Ability]:
    """Return the abilities of an account that has these servers, and no narrower grant."""
    by_server = {
        "imap": frozenset({Ability.MAIL_READ, Ability.MAIL_CHANGE}),
        "smtp": frozenset({Ability.MAIL_SEND}),
        "caldav": CALENDAR,
        "carddav": CONTACTS,
    }
    return frozenset().union(*(by_server[server] for server in servers))
