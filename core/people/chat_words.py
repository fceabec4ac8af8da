"""The words that people say about themselves: their preferences, their channels, and the data kept of them."""

import re

from core.language.catalogue import gettext_noop
from core.messaging.chat_words import UNLISTED, WITHOUT_SLASHES, Channels, ChatCommand
from core.people.switches import OFF, ON, named_switch

PREFERENCES = {
    "name": ("nombre", "nom", "nome", "称呼"),
    "language": ("idioma", "sprache", "langue", "língua", "语言"),
    "timezone": ("zona horaria", "zeitzone", "fuseau horaire", "fuso horário", "时区"),
    "channel": ("canal", "kanal", "渠道"),
    "quiet": ("horas de silencio", "ruhezeiten", "heures calmes", "horas de silêncio", "免打扰时段"),
    "busy": ("mientras trabajo", "wenn ich zu tun habe", "pendant que je travaille", "enquanto trabalho", "忙碌时"),
    "mute": ("silenciado", "stumm", "en sourdine", "静音"),
}
"""The word that sets each preference, and the same in each language, as the list of them names it."""
_PREFERENCE = {word: name for name, others in PREFERENCES.items() for word in (name, *others)}
_ON_OR_OFF = "|".join(sorted((ON | OFF) - {""}))
"""The values of a switch; an ability may add a switch under its own name."""
_LETTER = "[2-9A-HJ-NP-Z]"
_CODE = (
    rf"(?:[0-9]{{2}}[- ]?)?(?:(?=(?:[^0-9]*[0-9]){{2}}){_LETTER}{{3}}[- ]?{_LETTER}{{3}}[- ]?{_LETTER}{{3}}"
    r"|[0-9A-Z]{3}-[0-9A-Z]{3}-[0-9A-Z]{3})"
)
"""A code with or without its dashes; with them, also a code that was never given out: no other text has that form. The
two digits of its partition may come first."""

PREFS = ChatCommand(
    name="prefs",
    words={"en": ("prefs",)},
    argument=f" ((?:{'|'.join(map(re.escape, _PREFERENCE))})(?: .*)?|[^ ]{{1,40}} (?:{_ON_OR_OFF}))",
    help=gettext_noop("your timezone, language and quiet hours"),
    channels=Channels(alone=WITHOUT_SLASHES),
    answer="core.turns.words.person:prefer",
)
PROFILE = ChatCommand(
    name="profile",
    words={"en": ("profile",)},
    argument=" (undo [0-9]{1,9})",
    help=gettext_noop("what I know about you, and how to take it back"),
    channels=Channels(alone=WITHOUT_SLASHES),
    answer="core.turns.words.person:profile",
)
LINK = ChatCommand(
    name="link",
    words={"en": ("link",)},
    argument=rf" ({_CODE}(?: agree)?)",
    help=gettext_noop("use me as the same person on another channel"),
    channels=Channels(alone=WITHOUT_SLASHES),
    answer="core.turns.words.person:link",
)
UNLINK = ChatCommand(
    name="unlink",
    words={"en": ("unlink",)},
    help=gettext_noop("separate this channel from your others"),
    answer="core.turns.words.person:unlink",
)
CONSOLE = ChatCommand(
    name="console",
    words={"en": ("console",)},
    help=gettext_noop("all that I did"),
    answer="core.turns.words.console:to_console",
)
CLIENTS = ChatCommand(
    name="mcp",
    words={"en": ("mcp",)},
    argument=r" (tokens?|token [^\s/].{0,60}|revoke #?[0-9]{1,9})",
    help=gettext_noop("which programs may ask me"),
    channels=UNLISTED,
    answer="core.turns.words.console:about_clients",
)
EXPORT = ChatCommand(
    name="export",
    words={
        "en": ("export my data",),
        "es": ("exporta mis datos",),
        "de": ("exportiere meine daten",),
        "fr": ("exporte mes données",),
        "pt": ("exporte os meus dados",),
        "zh": ("导出我的数据",),
    },
    help=gettext_noop("get everything that I keep about you"),
    channels=UNLISTED,
    answer="core.turns.words.person:export",
    checked=False,
)
FORGET = ChatCommand(
    name="forget",
    words={
        "en": ("forget me",),
        "es": ("olvídame",),
        "de": ("vergiss mich",),
        "fr": ("oublie-moi",),
        "pt": ("esqueça-me",),
        "zh": ("忘记我",),
    },
    help=gettext_noop("have me delete everything that I keep about you"),
    channels=UNLISTED,
    answer="core.turns.words.person:forget",
    checked=False,
)
WORDS = (PREFS, PROFILE, LINK, UNLINK, CONSOLE, CLIENTS, EXPORT, FORGET)


def preference_of(argument: str) -> tuple[str, str]:
    """Return the name of a preference and its new value from a person's words; an unknown name as it is."""
    lower = argument.strip().lower()
    for word, name in _PREFERENCE.items():
        if lower == word or lower.startswith(f"{word} "):
            return name, argument.strip()[len(word) :].strip()
    name, _, value = argument.strip().partition(" ")
    return named_switch(name), value
