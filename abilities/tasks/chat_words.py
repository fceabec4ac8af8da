"""The words by which a person lets others set reminders for them, or a task run in their quiet hours."""

import re

from core.language.catalogue import current_language, gettext_noop
from core.messaging.chat_words import NOWHERE, Channels, ChatCommand
from core.messaging.visible_text import literal

_VERBS = {
    "allow": {"en": "allow", "de": "erlauben", "es": "permitir", "fr": "autoriser", "pt": "permitir", "zh": "允许"},
    "refuse": {"en": "refuse", "de": "ablehnen", "es": "rechazar", "fr": "refuser", "pt": "recusar", "zh": "拒绝"},
}
_ANY = "|".join(dict.fromkeys(re.escape(word) for words in _VERBS.values() for word in words.values()))
REMINDERS = ChatCommand(
    name="reminders",
    words={
        "en": ("reminders",),
        "de": ("erinnerungen",),
        "es": ("recordatorios",),
        "fr": ("rappels",),
        "pt": ("lembretes",),
        "zh": ("提醒",),
    },
    argument=rf" ((?:{_ANY}) [^\s/].{{0,60}})",
    help=gettext_noop("who may set reminders for you"),
    channels=Channels(alone=NOWHERE, listed=NOWHERE, menu=NOWHERE),
    answer="abilities.tasks.permitting:decide_permit",
)

AWAKE = ChatCommand(
    name="awake",
    words={
        "en": ("awake",),
        "de": ("wach",),
        "es": ("despierta",),
        "fr": ("éveillée",),
        "pt": ("acordada",),
        "zh": ("不休息",),
    },
    argument=r" ?#?([0-9]{1,9}(?: [^\s/]{1,15})?)",
    help=gettext_noop("let a task run in your quiet hours too"),
    channels=Channels(alone=NOWHERE, listed=NOWHERE, menu=NOWHERE),
    typed="AWAKE 3",
    answer="abilities.tasks.at_night:let_run",
)


def typed(verb: str, name: str) -> str:
    """Return the word with a verb, as it is typed on every channel, in the person's language."""
    return f"{REMINDERS.word()} {_VERBS[verb].get(current_language(), verb)}".upper() + f" {literal(name)}"


def read_verb(argument: str) -> tuple[str, str]:
    """Return the verb that a person typed, and the name behind it."""
    first, _, name = " ".join(argument.split()).partition(" ")
    return next((verb for verb, words in _VERBS.items() if first.casefold() in words.values()), ""), name
