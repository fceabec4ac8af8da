"""All chat words, from the rooms that declare them, and how a message is read as one. Pure."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module

from core.messaging.chat_words import ChatCommand
from core.messaging.messages import Command

ROOMS = (
    "core.messaging.talk_words",
    "core.tools.chat_words",
    "core.approvals.chat_words",
    "core.consents.chat_words",
    "core.people.chat_words",
    "core.memory.chat_words",
    "core.accounts.chat_words",
    "core.console.chat_words",
    "core.clients.chat_words",
    "core.files.chat_words",
    "core.tenants.chat_words",
    "core.messaging.help_words",
)
"""The modules that declare words, each in its `WORDS`: by name, since the rooms above this one are among them. HELP and
the menus have the words in this order."""
_END = ".!。！"
_HEARD = "/.!?,;:。！？，"
"""What a model that transcribes may write around a word."""
_MARKS = re.compile(r"^[\W_]+|[\W_]+$")
_MAX_MARKED = 60
"""Characters of a word with marks around it: to look for the end of a long row of them takes its square in time."""


class ChatWords:
    """Read messages as the commands of `commands`."""

    def __init__(self, commands: Iterable[ChatCommand]) -> None:
        self.commands = tuple(commands)
        self._named = {command.name: command for command in self.commands}
        self._words: dict[str, list[ChatCommand]] = {}
        for command in self.commands:
            for word in command if not command.needs_argument else ():
                self._words.setdefault(word.lower(), []).append(command)
        self._patterns = tuple(
            (re.compile(f"/?(?:{'|'.join(map(re.escape, command))}){command.argument}", re.IGNORECASE), command)
            for command in self.commands
            if command.argument
        )

    def find(self, name: str) -> ChatCommand | None:
        """Return the declaration of a command."""
        return self._named.get(name)

    def read(self, text: str, channel: str) -> Command | None:
        """Read a message that is nothing but a command, typed as plain words; None for any other."""
        words = " ".join(text.split()).rstrip(_END)
        if command := self._with_argument(words):
            return command
        bare = words.removeprefix("/").lower()
        slash = bare != words.lower()
        unmarked = _MARKS.sub("", bare) if len(bare) <= _MAX_MARKED else bare
        alone = [one for one in self._words.get(bare, ()) if slash or one.stands_alone(channel)]
        loosely = [one for one in self._words.get(unmarked, ()) if one.loosely and one.stands_alone(channel)]
        return _first([*alone, *loosely])

    def spoken(self, text: str, channel: str) -> Command | None:
        """Read a command that is all that a person said in a voice note, where nobody can say a slash."""
        words = " ".join(text.split()).strip(_HEARD)
        said = (one for one in self._words.get(words.lower(), ()) if one.spoken)
        alone = (one for one in said if one.stands_alone(channel) or one.is_listed(channel))
        return self._with_argument(words) or _first(alone)

    def slash(self, name: str, argument: str = "") -> Command:
        """Return the command that a person typed with a slash, in whichever language; an unknown one as it is."""
        words = " ".join(f"{name} {argument}".split())
        if command := self._with_argument(words) or _first(self._words.get(words.lower(), ())):
            return command
        named = Command(name.lower(), argument)
        same = () if named.name in self._named else self._words.get(named.name, ())
        return next((Command(one.name, argument) for one in same), named)

    def in_menu(self, channel: str) -> Iterator[ChatCommand]:
        """Yield what a channel's menu offers."""
        return (command for command in self.commands if channel in command.channels.menu)

    def _with_argument(self, words: str) -> Command | None:
        matches = ((pattern.fullmatch(words), command) for pattern, command in self._patterns)
        return next((Command(command.name, match[1]) for match, command in matches if match), None)


@cache
def chat_words() -> ChatWords:
    """Return the words of all rooms, read when the first message is."""
    return ChatWords(command for room in ROOMS for command in import_module(room).WORDS)


def _first(found: Iterable[ChatCommand]) -> Command | None:
    return next((Command(command.name) for command in found), None)
