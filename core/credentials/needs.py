"""A tool's needs of a person's accounts: parsed from its declaration, served by an account, or missing. Pure."""

from collections.abc import Mapping

from core.credentials.types import Ability, Account
from core.language.catalogue import gettext, gettext_noop

_MISSING: Mapping[Ability, str] = {
    Ability.MAIL_READ: gettext_noop("No account is connected whose mail I can read."),
    Ability.MAIL_CHANGE: gettext_noop("No account is connected whose mail I can sort."),
    Ability.MAIL_SEND: gettext_noop("No account is connected from which I can send mail."),
    Ability.CALENDAR_READ: gettext_noop("No account is connected whose calendar I can see."),
    Ability.CALENDAR_CHANGE: gettext_noop("No account is connected whose calendar I can change."),
    Ability.CONTACTS_READ: gettext_noop("No account is connected whose contacts I can see."),
    Ability.CONTACTS_CHANGE: gettext_noop("No account is connected whose contacts I can change."),
}
_SCOPES: Mapping[str, Ability] = {
    "gmail.readonly": Ability.MAIL_READ,
    "gmail.modify": Ability.MAIL_CHANGE,
    "gmail.send": Ability.MAIL_SEND,
    "calendar.readonly": Ability.CALENDAR_READ,
    "calendar.events.readonly": Ability.CALENDAR_READ,
    "calendar.events": Ability.CALENDAR_CHANGE,
    "calendar": Ability.CALENDAR_CHANGE,
    "contacts.readonly": Ability.CONTACTS_READ,
    "contacts": Ability.CONTACTS_CHANGE,
    "carddav": Ability.CONTACTS_CHANGE,
    "imap.accessasuser.all": Ability.MAIL_READ,
    "mail.readwrite": Ability.MAIL_CHANGE,
    "smtp.send": Ability.MAIL_SEND,
}
"""The short names of providers' scopes, in small letters, as the ability that a tool with such a scope needs."""
OURS = frozenset({"email", "caldav", "google", "microsoft"})
"""The services whose scopes are known here; the scopes of other services are their own tools' affair."""


def read_need(need: str) -> tuple[str, Ability | None]:
    """Return the service and the ability of a need such as `google:mail.read`; an empty service means any.

    A scope's short name may replace the ability (`google:calendar.readonly`). Of a service that only its own tools
    know, any account will do, and the ability is None. Raises `ValueError` for a need that names neither: it is a fault
    of the tool.
    """
    service, _, wanted = need.rpartition(":")
    if ability := _SCOPES.get(wanted.lower()):
        return service, ability
    if not service or not wanted or "." in service or service in OURS or wanted in tuple(Ability):
        return service, Ability(wanted if "." not in service else need)
    return service, None


def serves(account: Account, need: str) -> bool:
    """Return whether an account serves a need."""
    service, ability = read_need(need)
    return service in ("", account.service) and (ability is None or ability in account.abilities)


def missing(ability: Ability | None, service: str = "") -> str:
    """Return the sentence for a person without an account of this ability or service."""
    if ability is None:
        return gettext("No account of {service} is connected.", service=service)
    return gettext(_MISSING[ability])
