"""All chat words, collected from the rooms and abilities that declare them, and the parsing of messages as commands."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module

from core.errors import ConfigError
from core.messaging.chat_words import ChatCommand
from core.messaging.messages import Command

ROOMS = (
    "core.messaging.talk_words",
    "core.tools.chat_words",
    "core.approvals.chat_words",
    "core.consents.chat_words",
    "core.people.chat_words",
)
"""The modules that declare words, each in its `WORDS`; by name, since some belong to rooms above this one. HELP and the
menus list the words in this order, then those of abilities, and last those about answers and words."""
_LAST = "core.messaging.help_words"
_END = ".!。！"
_HEARD = "/.!?,;:。！？，"
"""Marks that a transcription model may write around a word."""
_MARKS = re.compile(r"^[\W_]+|[\W_]+$")
_MAX_MARKED = 60
"""Characters of a word with marks around it at most: finding the end of a long row of marks takes quadratic time."""


class ChatWords:
    """Read messages as the commands of `commands`."""

    def __init__(self, commands: Iterable[ChatCommand]) -> None:
        self.commands = tuple(commands)
        self._named, self._words = _by_name_and_word(self.commands)
        self._patterns = tuple(
            (re.compile(f"/?(?:{'|'.join(map(re.escape, command))}){command.argument}", re.IGNORECASE), command)
            for command in self.commands
            if command.argument
        )

    def find(self, name: str) -> ChatCommand | None:
        """Return the declaration of a command."""
        return self._named.get(name)

    def read(self, text: str, channel: str) -> Command | None:
        """Parse a message that consists of a command typed in plain words; None for any other message."""
        words = " ".join(text.split()).rstrip(_END)
        if command := self._with_argument(words):
            return command
        bare = words.removeprefix("/").lower()
        if (word := self._words.get(bare)) and (bare != words.lower() or word.stands_alone(channel)):
            return Command(word.name, switch=word.switch)
        marked = self._words.get(_MARKS.sub("", bare)) if len(bare) <= _MAX_MARKED else None
        return (
            Command(marked.name, switch=marked.switch)
            if marked and marked.loosely and marked.stands_alone(channel)
            else None
        )

    def spoken(self, text: str, channel: str) -> Command | None:
        """Parse a voice note that consists of a command, which nobody can begin with a slash; None for any other."""
        words = " ".join(text.split()).strip(_HEARD)
        if command := self._with_argument(words):
            return command
        word = self._words.get(words.lower())
        if word is None or not word.spoken or not (word.stands_alone(channel) or word.is_listed(channel)):
            return None
        return Command(word.name, switch=word.switch)

    def slash(self, name: str, argument: str = "") -> Command:
        """Return the command that a person typed with a slash in any language; an unknown name stays as it is."""
        words = " ".join(f"{name} {argument}".split())
        if whole := self._words.get(words.lower()):
            return Command(whole.name, switch=whole.switch)
        if command := self._with_argument(words):
            return command
        name = name.lower()
        word = self._named.get(name) or self._words.get(name)
        return Command(word.name if word else name, argument)

    def in_menu(self, channel: str) -> Iterator[ChatCommand]:
        """Yield the commands in the menu of a channel."""
        return (command for command in self.commands if channel in command.channels.menu)

    def _with_argument(self, words: str) -> Command | None:
        matches = ((pattern.fullmatch(words), command) for pattern, command in self._patterns)
        return next((Command(command.name, match[1]) for match, command in matches if match), None)


def _by_name_and_word(commands: Iterable[ChatCommand]) -> tuple[dict[str, ChatCommand], dict[str, ChatCommand]]:
    """Return commands by their names, and by their words. Raises `ConfigError` for an ambiguous name or word."""
    named: dict[str, ChatCommand] = {}
    words: dict[str, ChatCommand] = {}
    for command in commands:
        if named.setdefault(command.name, command) is not command:
            raise ConfigError(f"Two chat words are named {command.name!r}: rename the one of the ability.")
        for word in () if command.needs_argument else command:
            if (other := words.setdefault(word.lower(), command)) is not command:
                raise ConfigError(f"{word!r} means both {other.name!r} and {command.name!r}: choose another word.")
    return named, words


_of_abilities: list[ChatCommand] = []


def use_words(commands: Iterable[ChatCommand]) -> None:
    """Register the words of the abilities, in place of any earlier words.

    Raises `ConfigError` if a word has another meaning already.
    """
    _of_abilities[:] = commands
    chat_words.cache_clear()
    if _of_abilities:
        chat_words()


@cache
def chat_words() -> ChatWords:
    """Return the words of all rooms and abilities, which are loaded with the first message."""
    rooms = (command for room in ROOMS for command in import_module(room).WORDS)
    return ChatWords([*rooms, *_of_abilities, *import_module(_LAST).WORDS])
