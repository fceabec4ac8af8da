"""The abilities of an account, in words for people."""

from collections.abc import Iterable, Mapping, Sequence

from core.credentials.types import Ability
from core.language.catalogue import gettext, gettext_noop

MAIL = frozenset({Ability.MAIL_READ, Ability.MAIL_CHANGE, Ability.MAIL_SEND})
CALENDAR = frozenset({Ability.CALENDAR_READ, Ability.CALENDAR_CHANGE})
CONTACTS = frozenset({Ability.CONTACTS_READ, Ability.CONTACTS_CHANGE})

KINDS: Mapping[str, frozenset[Ability]] = {"mail": MAIL, "calendar": CALENDAR, "contacts": CONTACTS}
"""The kinds of things in accounts, by the names under which a default account is stored for each."""
KIND_NAMES = {
    "mail": gettext_noop("mail"),
    "calendar": gettext_noop("calendars"),
    "contacts": gettext_noop("contacts"),
}
_MAY: Mapping[Ability, str] = {
    Ability.MAIL_READ: gettext_noop("read and search your mail"),
    Ability.MAIL_CHANGE: gettext_noop("sort your mail: mark, archive and delete it"),
    Ability.MAIL_SEND: gettext_noop("send mail in your name, each time only after you agree"),
    Ability.CALENDAR_READ: gettext_noop("see your calendars"),
    Ability.CALENDAR_CHANGE: gettext_noop("create and change events in your calendars"),
    Ability.CONTACTS_READ: gettext_noop("see your contacts"),
    Ability.CONTACTS_CHANGE: gettext_noop("add and change contacts"),
}


def may(abilities: Iterable[Ability]) -> Sequence[str]:
    """Return each permission of these abilities, as the end of a sentence to the person."""
    wanted = frozenset(abilities)
    return tuple(gettext(words) for ability, words in _MAY.items() if ability in wanted)


def kinds_of(abilities: Iterable[Ability]) -> Sequence[str]:
    """Return the contents of accounts with these abilities, in words."""
    there = frozenset(abilities)
    return tuple(gettext(KIND_NAMES[kind]) for kind, of_kind in KINDS.items() if of_kind & there)
