"""The word for the household, with its arguments in each language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from abilities.household.roles import HouseholdRole, ShownCalendar
from core.language.catalogue import gettext_noop
from core.messaging.chat_words import Channels, ChatCommand

AGREED = "AGREE"
"""The word after a code, or after `end`, by which a person agrees in reply to the question."""
CREATE, INVITE, JOIN, LEAVE, REMOVE, MAKE, END = "create", "invite", "join", "leave", "remove", "make", "end"
CALENDAR = "calendar"
VERBS = {
    CREATE: {"en": "create", "de": "gründen", "es": "crear", "fr": "créer", "pt": "criar", "zh": "创建"},
    INVITE: {"en": "invite", "de": "einladen", "es": "invitar", "fr": "inviter", "pt": "convidar", "zh": "邀请"},
    JOIN: {"en": "join", "de": "beitreten", "es": "unirse", "fr": "rejoindre", "pt": "entrar", "zh": "加入"},
    LEAVE: {"en": "leave", "de": "verlassen", "es": "salir", "fr": "quitter", "pt": "sair", "zh": "退出"},
    REMOVE: {"en": "remove", "de": "entfernen", "es": "quitar", "fr": "retirer", "pt": "remover", "zh": "移除"},
    MAKE: {"en": "make", "de": "ernennen", "es": "nombrar", "fr": "nommer", "pt": "nomear", "zh": "设为"},
    END: {"en": "end", "de": "auflösen", "es": "disolver", "fr": "dissoudre", "pt": "dissolver", "zh": "解散"},
    CALENDAR: {
        "en": "calendar",
        "de": "kalender",
        "es": "calendario",
        "fr": "calendrier",
        "pt": "calendário",
        "zh": "日历",
    },
}
"""The acts on a household; the words of every language count for everybody."""
_OWNER, _ADULT, _CHILD = HouseholdRole
ROLES: Mapping[HouseholdRole, dict[str, str]] = {
    HouseholdRole.ADULT: {
        "en": "adult",
        "de": "erwachsener",
        "es": "adulto",
        "fr": "adulte",
        "pt": "adulto",
        "zh": "成人",
    },
    _CHILD: {"en": "child", "de": "kind", "es": "menor", "fr": "enfant", "pt": "criança", "zh": "孩子"},
    HouseholdRole.OWNER: {
        "en": "owner",
        "de": "inhaber",
        "es": "titular",
        "fr": "titulaire",
        "pt": "titular",
        "zh": "户主",
    },
}
SHOWN: Mapping[ShownCalendar, dict[str, str]] = {
    ShownCalendar.BUSY: {
        "en": "busy",
        "de": "belegt",
        "es": "ocupado",
        "fr": "occupé",
        "pt": "ocupado",
        "zh": "忙闲",
    },
    ShownCalendar.TITLES: {
        "en": "titles",
        "de": "titel",
        "es": "títulos",
        "fr": "titres",
        "pt": "títulos",
        "zh": "标题",
    },
    ShownCalendar.NOTHING: {"en": "off", "de": "aus", "es": "nada", "fr": "rien", "pt": "nada", "zh": "关闭"},
}
"""How much of their calendars somebody shows to the others."""
_CODE = r"(?:[0-9]{2}[- ]?)?[2-9A-Z]{3}[- ]?[2-9A-Z]{3}[- ]?[2-9A-Z]{3}"


def _any(*words: dict[str, str]) -> str:
    return f"(?:{'|'.join(re.escape(word) for language in words for word in dict.fromkeys(language.values()))})"


_ANY_ROLE, _NEW_ROLE = _any(*ROLES.values()), _any(ROLES[_ADULT], ROLES[_CHILD])
_DEEDS = (
    rf"{_any(VERBS[CREATE])} [^\s/].{{0,60}}",
    rf"{_any(VERBS[INVITE])}(?: {_NEW_ROLE})?",
    rf"{_any(VERBS[JOIN])} {_CODE}(?: {AGREED})?",
    rf"{_any(VERBS[REMOVE])} [^\s/].{{0,60}}",
    rf"{_any(VERBS[MAKE])} [^\s/].{{0,60}} {_ANY_ROLE}",
    rf"{_any(VERBS[CALENDAR])} {_any(*SHOWN.values())}",
    rf"{_any(VERBS[END])}(?: {AGREED})?",
    _any(VERBS[LEAVE]),
)
HOUSEHOLD = ChatCommand(
    name="household",
    words={
        "en": ("household",),
        "de": ("haushalt",),
        "es": ("hogar",),
        "fr": ("foyer",),
        "pt": ("lar",),
        "zh": ("家庭",),
    },
    argument=f" ({'|'.join(_DEEDS)})",
    channels=Channels(unlisted=frozenset({"sms"})),  # its list is long enough
    help=gettext_noop("who lives with you, and shares lists with you"),
    answer="abilities.household.answers:about_household",
)


@dataclass(frozen=True, slots=True)
class Said:
    """The text after the chat word: the act, its object, the role or how much they show, and whether they agree.

    Empty for none.
    """

    verb: str = ""
    rest: str = ""
    role: HouseholdRole | None = None
    calendar: ShownCalendar | None = None
    agreed: bool = False


def read_argument(argument: str) -> Said:
    """Parse the text after the word."""
    first, _, rest = " ".join(argument.split()).partition(" ")
    verb = next((verb for verb, words in VERBS.items() if first.casefold() in words.values()), "")
    before, _, last = rest.rpartition(" ")
    if verb in (JOIN, END) and last.upper() == AGREED:
        return Said(verb, before, agreed=True)
    if verb == CALENDAR:
        return Said(
            verb, calendar=next((how for how, words in SHOWN.items() if last.casefold() in words.values()), None)
        )
    role = next((role for role, words in ROLES.items() if last.casefold() in words.values()), None)
    if verb in (INVITE, MAKE) and role:
        return Said(verb, before, role)
    return Said(verb, rest)
