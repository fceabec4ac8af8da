"""What an account can do, in words for people, and how a tool asks for it."""

from collections.abc import Iterable, Mapping, Sequence

from core.credentials.types import Ability
from core.language.catalogue import gettext, gettext_noop

MAIL = frozenset({Ability.MAIL_READ, Ability.MAIL_CHANGE, Ability.MAIL_SEND})
CALENDAR = frozenset({Ability.CALENDAR_READ, Ability.CALENDAR_CHANGE})
CONTACTS = frozenset({Ability.CONTACTS_READ, Ability.CONTACTS_CHANGE})

_MAY: Mapping[Ability, str] = {
    Ability.MAIL_READ: gettext_noop("read and search your mail"),
    Ability.MAIL_CHANGE: gettext_noop("sort your mail: mark, archive and delete it"),
    Ability.MAIL_SEND: gettext_noop("send mail in your name, each time only after you agree"),
    Ability.CALENDAR_READ: gettext_noop("see your calendars"),
    Ability.CALENDAR_CHANGE: gettext_noop("create and change events in your calendars"),
    Ability.CONTACTS_READ: gettext_noop("see your contacts"),
    Ability.CONTACTS_CHANGE: gettext_noop("add and change contacts"),
}
_MISSING: Mapping[Ability, str] = {
    Ability.MAIL_READ: gettext_noop("No account is connected whose mail I can read."),
    Ability.MAIL_CHANGE: gettext_noop("No account is connected whose mail I can sort."),
    Ability.MAIL_SEND: gettext_noop("No account is connected from which I can send mail."),
    Ability.CALENDAR_READ: gettext_noop("No account is connected whose calendar I can see."),
    Ability.CALENDAR_CHANGE: gettext_noop("No account is connected whose calendar I can change."),
    Ability.CONTACTS_READ: gettext_noop("No account is connected whose contacts I can see."),
    Ability.CONTACTS_CHANGE: gettext_noop("No account is connected whose contacts I can change."),
}


def read_need(need: str) -> tuple[str, Ability]:
    """Return the service and the ability of a need such as `google:mail.read`; the service is empty for any.

    Raises `ValueError` for a need that names no ability: it is a fault of the tool.
    """
    service, _, ability = need.rpartition(":")
    return service, Ability(ability)


def may(abilities: Iterable[Ability]) -> Sequence[str]:
    """Return what the assistant may do with these abilities, each as the end of a sentence to the person."""
    wanted = frozenset(abilities)
    return tuple(gettext(words) for ability, words in _MAY.items() if ability in wanted)


def missing(ability: Ability) -> str:
    """Return the sentence for a person who has no account that can do this."""
    return gettext(_MISSING[ability])
