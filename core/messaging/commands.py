"""People's own words for the gateway itself, answered without a model."""

import re
from dataclasses import dataclass

from core.json_types import JsonObject
from core.language.catalogue import gettext, gettext_noop
from core.messaging.help_text import help_text, where_help_is
from core.messaging.messages import Command

_LETTER = "[2-9A-HJ-NP-Z]"
_LINK = re.compile(
    rf"/?link ((?:[0-9]{{2}}[- ]?)?(?:(?=(?:[^0-9]*[0-9]){{2}}){_LETTER}{{3}}[- ]?{_LETTER}{{3}}[- ]?{_LETTER}{{3}}"
    r"|[0-9A-Z]{3}-[0-9A-Z]{3}-[0-9A-Z]{3})(?: agree)?)",
    re.IGNORECASE,
)
"""A code with or without its dashes; with them, one that nobody can have been given too: no other text looks so. In
front may stand the two digits of its partition."""
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
_PREFS = re.compile(rf"/?prefs ((?:{'|'.join(_PREFERENCE)})(?: .*)?)", re.IGNORECASE)
_UNDO_FACT = re.compile(r"/?profile (undo [0-9]{1,9})", re.IGNORECASE)
_UNDO = re.compile(r"/?(?:undo|deshacer|rückgängig|défaire|desfazer|撤销)(?: ?#?([0-9]{1,9}))?", re.IGNORECASE)
_AGAIN = re.compile(r"/?again ([2-9][A-Z][2-9A-Z]?)", re.IGNORECASE)
_CONNECT = re.compile(r"/?connect ([a-z0-9]{1,20}(?: as [^\s/].{0,60})?)", re.IGNORECASE)
_CLIENTS = re.compile(r"/?mcp(?: (tokens?|token [^\s/].{0,60}|revoke #?[0-9]{1,9}))?", re.IGNORECASE)
_DISCONNECT = re.compile(r"/?disconnect ([^\s/].{0,200})", re.IGNORECASE)
MORE = "more"
STOP = "stop"
"""Asks for the rest of a long text, where one is kept; else it is a word like any other."""
UNDO = gettext_noop("undo")
"""Takes back what was done last, or by its number what was done before; with other words it is for the assistant."""
AGAIN = gettext_noop("again")
AGAIN_WORDS = frozenset({"again", "otra vez", "nochmal", "encore", "outra vez", "再试一次"})
"""The same word in each language: to read all catalogues at the door would take a second."""
LISTEN = "listen"
"""Asks to transcribe recordings again, where that has just failed; else it is a word like any other."""
CLIENTS = "mcp"
"""What people say about the programs to which they give access (core.clients.commands)."""
CONSENTS = "consents"
WITHDRAW = "withdraw"
"""Ends what the person let the assistant do without asking; REVOKE, CANCEL and END are the carriers' by SMS."""
_WITHDRAW = re.compile(r"/?(?:withdraw|retirar|widerrufen|retirer|撤回)(?: ?#?([0-9]{1,9}))?", re.IGNORECASE)
EXPORT = "export"
FORGET = "forget"
"""What people ask about all that is kept of them: a card then asks whether they mean it."""
_WHOLE = (
    dict.fromkeys(AGAIN_WORDS, LISTEN)
    | dict.fromkeys(("export my data", "exporta mis datos", "exportiere meine daten"), EXPORT)
    | dict.fromkeys(("exporte mes données", "exporte os meus dados", "导出我的数据"), EXPORT)
    | dict.fromkeys(("consents", "consentimientos", "einwilligungen", "consentements"), CONSENTS)
    | dict.fromkeys(("consentimentos", "授权列表"), CONSENTS)
    | dict.fromkeys(("forget me", "olvídame", "vergiss mich", "oublie-moi", "esqueça-me", "忘记我"), FORGET)
)
"""Words that are a command where they are all that was said."""
ACCOUNT_COMMANDS = frozenset({"connect", "accounts", "disconnect"})
"""What people say about their accounts elsewhere (core.turns.account_commands)."""
PERSON_COMMANDS = frozenset({"link", "unlink", "prefs", "profile"})
"""What people say about themselves (core.people.commands); where nobody writes slashes, words that stand alone."""


_WITH_ARGUMENT = (
    (_LINK, "link"),
    (_PREFS, "prefs"),
    (_UNDO_FACT, "profile"),
    (_UNDO, UNDO),
    (_WITHDRAW, WITHDRAW),
    (_CONNECT, "connect"),
    (_DISCONNECT, "disconnect"),
    (_CLIENTS, CLIENTS),
)


@dataclass(frozen=True, slots=True)
class CommandUndo:
    """What takes a command back: the call of a tool, and `title`, which says what was done."""

    title: str
    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What is said to a command. `new_session`: what was said before is set aside for the model."""

    text: str
    new_session: bool = False
    reason: str = ""
    """Why nothing is said, where `text` is empty."""
    queued: tuple[str, ...] = ()
    """Conversations in which something waits to be sent already: the answer, or what others are told of it."""
    undo: CommandUndo | None = None


def preference_of(argument: str) -> tuple[str, str]:
    """Return the name of a preference and its new value, from how a person writes both; an unknown name as it is."""
    lower = argument.strip().lower()
    for word, name in _PREFERENCE.items():
        if lower == word or lower.startswith(f"{word} "):
            return name, argument.strip()[len(word) :].strip()
    name, _, value = argument.strip().partition(" ")
    return name, value


def own_words(text: str, channel: str) -> Command | None:
    """Read a command that a person typed as plain words, the same on every channel; None for anything else."""
    words = " ".join(text.split()).rstrip(".!")
    for pattern, command in _WITH_ARGUMENT:
        if match := pattern.fullmatch(words):
            return Command(command, match[1] or "")
    if match := _AGAIN.fullmatch(words):
        return Command("again", match[1].upper())
    word = words.lower()
    if name := _WHOLE.get(word.rstrip("。！")):
        return Command(name)
    if word in ("pending", "unlink"):  # as our own sentences name them, wherever they are read
        return Command(word)
    if channel == "sms" and word == MORE:
        return Command(word)
    if word.removeprefix("/") in {*ACCOUNT_COMMANDS, CONSENTS, "console"}:
        return Command(word.removeprefix("/"))
    return Command(word) if channel in ("sms", "slack", "email") and word in {*PERSON_COMMANDS, "memory"} else None


def spoken_words(text: str, channel: str) -> Command | None:
    """Read a command that is all that a person said in a voice note, where nobody can say a slash."""
    words = " ".join(text.split()).strip(".!?,;:。！？，")
    if words.lower() in {"new", "help", "memory", *PERSON_COMMANDS}:
        return Command(words.lower())
    command = own_words(words, channel)
    return None if command is None or command.name == LISTEN else command


def answer_command(command: Command, channel: str) -> CommandAnswer | None:
    """Answer a command, or None when it is not one of ours and its text goes to the assistant."""
    match command.name:
        case "new":
            return CommandAnswer(gettext("A fresh start. What can I do for you?"), new_session=True)
        case "stop":
            return CommandAnswer(gettext("Nothing is running at the moment."))
        case "start":
            hello = gettext("Hello! I am your assistant: write to me in your own words.")
            return CommandAnswer(f"{hello} {where_help_is(channel)}")
        case "help":
            return CommandAnswer(help_text(channel))
    return None
