"""The declaration of a chat word: a word that a person types for the gateway itself, answered without a model.

A word is declared once, in the `chat_words.py` of its room, which `core.messaging.chat_reader` lists, or by an ability.
All code that parses, lists or answers a word uses its declaration.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.json_types import JsonObject
from core.language.catalogue import current_language

NOWHERE = frozenset[str]()
WITHOUT_SLASHES = frozenset({"sms", "slack", "email"})
"""The channels on which nobody writes slashes: there a word counts if it is the whole message."""
MENUS = frozenset({"slack", "telegram"})
"""The channels with a menu of the words."""
A_NUMBER = " ?#?([0-9]{1,9})"
"""The argument of a word that refers to an entry of a numbered list."""


@dataclass(frozen=True, slots=True)
class Channels:
    """The channels on which a word counts, and on which it is shown; None stands for all."""

    alone: frozenset[str] | None = None
    """The channels on which the word counts by itself. With a slash, or with its argument, it counts on all."""
    listed: frozenset[str] | None = None
    """The channels on which HELP lists it."""
    unlisted: frozenset[str] = NOWHERE
    """The channels on which HELP leaves it out nevertheless."""
    menu: frozenset[str] = MENUS
    """The menus that contain it."""


UNLISTED = Channels(listed=NOWHERE, menu=NOWHERE)
"""For a word that only sentences mention, at the moment when it is useful."""


@dataclass(frozen=True, slots=True)
class ChatCommand:
    """The declaration of a chat word. `name`: its name after a slash, which is also stored with a message.

    `words`: the words that people type, by language, first the word that our sentences mention. `argument`: the pattern
    of the argument, with a group for the part that counts. `help`: its line in HELP, the menus and docs/words.md.

    `answer` names a `core.turns.words.asked.WordHandler` as `module:function`, which is loaded only when it is needed.
    """

    name: str
    words: Mapping[str, tuple[str, ...]]
    help: str
    answer: str
    argument: str = ""
    channels: Channels = Channels()
    typed: str = ""
    """The word that HELP shows in plain text, if it is not the name."""
    example: str = ""
    """The form that HELP shows on every channel, if a shorter form would not explain the word."""
    spoken: bool = True
    """Whether it also counts in a voice note."""
    loosely: bool = False
    """Whether it counts with any marks around it, such as a question mark or the marks of a mail program."""
    switch: str = ""
    """The preference of an ability's (`core.people.switches`) without which the word is a text like any other."""
    checked: bool = True
    """Whether the checks of a turn run before the answer. A turn that the word begins runs them itself."""

    def __iter__(self) -> Iterator[str]:
        """Yield its words in all languages."""
        return (word for words in self.words.values() for word in words)

    @property
    def needs_argument(self) -> bool:
        """Return whether the word is a command only with its argument."""
        return bool(self.argument) and self.channels.alone == NOWHERE

    def word(self) -> str:
        """Return the word that our sentences mention in the person's language."""
        return self.words.get(current_language(), self.words["en"])[0]

    def is_listed(self, channel: str) -> bool:
        """Return whether HELP lists it on a channel."""
        where = self.channels
        listed = where.listed is None or channel in where.listed
        return listed and channel not in where.unlisted

    def stands_alone(self, channel: str) -> bool:
        """Return whether it counts on a channel if it is the whole message."""
        return self.channels.alone is None or channel in self.channels.alone


@dataclass(frozen=True, slots=True)
class CommandUndo:
    """The undo of a command: the call of a tool, and `title`, which describes the command."""

    title: str
    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """The reply to a command. `new_session`: the model no longer sees the talk before it."""

    text: str
    new_session: bool = False
    reason: str = ""
    """The reason for an empty `text`."""
    queued: tuple[str, ...] = ()
    """Conversations with messages that are queued already: the answer, or news of it for others."""
    undo: CommandUndo | None = None
