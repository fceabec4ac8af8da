"""A person's connected accounts, and the credentials that open them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from urllib.parse import urlsplit

from core.json_types import JsonObject


class Ability(StrEnum):
    """The abilities that an account gives the assistant; a service has a scope for each that it offers."""

    MAIL_READ = "mail.read"
    MAIL_CHANGE = "mail.change"
    MAIL_SEND = "mail.send"
    CALENDAR_READ = "calendar.read"
    CALENDAR_CHANGE = "calendar.change"
    CONTACTS_READ = "contacts.read"
    CONTACTS_CHANGE = "contacts.change"


@dataclass(frozen=True, slots=True)
class Account:
    """A person's account of a service, without credentials.

    `address`: the mail address or login by which its person knows it. `preferred`: the default among the accounts of a
    lookup; `preferred_for`: mail, calendar or contacts, for which its person chose it over all services. `revoked`: the
    service no longer accepts the stored credentials; its person has to connect it again.
    """

    service: str
    name: str
    address: str = ""
    abilities: frozenset[Ability] = frozenset()
    preferred: bool = False
    revoked: bool = False
    preferred_for: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class OpenAccount:
    """An account with the credentials that open it now, and its servers.

    `secret` is a password, or with `bearer` an OAuth access token (SASL XOAUTH2, HTTP Bearer). `servers` has a URL of
    each: `imap` (imaps://host:993, imap+starttls://, imap:// for a server on this machine), `smtp` (smtps://,
    smtp+starttls://, smtp://), `caldav` and `carddav` (https://, where discovery begins).
    """

    account: Account
    login: str
    secret: str = field(repr=False)
    bearer: bool = False
    servers: Mapping[str, str] = field(default_factory=dict)
    sender: str | None = None
    """The From of its mail if it says more than the address, such as `Ann <ann@example.org>`."""
    person: str = ""
    """Its owner, by whom the load of its servers on this process is counted. Empty for the operator's own accounts."""

    def host_of(self, kind: str) -> str:
        """Return the host of its server of a kind, by which its person tells it from another account's."""
        return urlsplit(self.servers.get(kind, "")).hostname or ""


@dataclass(frozen=True, slots=True)
class StoredAccount:
    """An account as it is stored. `credentials`: None if they do not open. `written_at` changes with them."""

    service: str
    name: str
    credentials: JsonObject | None = field(repr=False)
    preferred: bool
    preferred_for: frozenset[str]
    revoked: bool
    written_at: datetime


@dataclass(frozen=True, slots=True)
class ConnectedAccounts:
    """The accounts of a service that a person has connected. `preferred`: the name of their choice, or empty."""

    service: str
    names: tuple[str, ...]
    preferred: str = ""

    @property
    def chosen(self) -> str:
        """Name the account to use if the person named none; empty: there is none, or ask them which."""
        return self.preferred or (self.names[0] if len(self.names) == 1 else "")
