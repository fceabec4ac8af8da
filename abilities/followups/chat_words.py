"""The word for follow-ups, with its arguments in each language."""

import re

from core.language.catalogue import current_language, gettext_noop
from core.messaging.chat_words import Channels, ChatCommand
from core.messaging.messages import Action
from core.messaging.word_buttons import word_button

YES, NO, ON, OFF = "yes", "no", "on", "off"
_VERBS = {
    YES: {"en": "yes", "de": "ja", "es": "sí", "fr": "oui", "pt": "sim", "zh": "要"},
    NO: {"en": "no", "de": "nein", "es": "no", "fr": "non", "pt": "não", "zh": "不要"},
    ON: {"en": "on", "de": "an", "es": "activar", "fr": "activer", "pt": "ativar", "zh": "开启"},
    OFF: {"en": "off", "de": "aus", "es": "desactivar", "fr": "désactiver", "pt": "desativar", "zh": "关闭"},
}
"""The decisions about them; the words of every language count for everybody."""
_WITHOUT_ACCENT = {"si": YES, "nao": NO, "desactiver": OFF}


def _any(*verbs: str) -> str:
    words = dict.fromkeys(word for verb in verbs for word in _VERBS[verb].values())
    plain = (word for word, verb in _WITHOUT_ACCENT.items() if verb in verbs)
    return f"(?:{'|'.join(map(re.escape, (*words, *plain)))})"


FOLLOWUPS = ChatCommand(
    name="followups",
    words={
        "en": ("followups", "follow-ups", "follow ups"),
        "de": ("nachfragen",),
        "es": ("seguimientos",),
        "fr": ("relances",),
        "pt": ("acompanhamentos",),
        "zh": ("跟进",),
    },
    argument=rf" ({_any(YES, NO)}(?: ?#?[0-9]{{1,9}})?|{_any(ON, OFF)})",
    channels=Channels(unlisted=frozenset({"sms"})),  # its list is long enough
    help=gettext_noop("what I ask you about afterwards, if you like"),
    answer="abilities.followups.answers:about_followups",
)


def typed(verb: str, number: str = "") -> str:
    """Return the word with a verb, as it is typed on every channel, in the person's language."""
    word = f"{FOLLOWUPS.word()} {_VERBS[verb].get(current_language(), verb)}".upper()
    return f"{word} {number}".rstrip()


def button(label: str, verb: str, number: str = "") -> Action:
    """Return a button that types the word with a verb, in English, as the words of every language count."""
    return word_button(label, f"{FOLLOWUPS.name} {verb} {number}")


def read_argument(argument: str) -> tuple[str, int | None]:
    """Return the verb that a person typed, and the number behind it, if any."""
    found = re.fullmatch(r"(\D*?) ?#?([0-9]*)", " ".join(argument.casefold().split()))
    said, number = (found[1], found[2]) if found else ("", "")
    verb = next((verb for verb, words in _VERBS.items() if said in words.values()), _WITHOUT_ACCENT.get(said, ""))
    return verb, int(number) if number else None
