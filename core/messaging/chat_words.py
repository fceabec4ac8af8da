"""The declaration of a chat word: what a person types for the gateway itself, answered without a model.

A word is declared once, in the `chat_words.py` of its room, which `core.messaging.chat_reader` lists, or by an ability.
Whatever reads, lists or answers a word reads its declaration.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.json_types import JsonObject
from core.language.catalogue import current_language

NOWHERE = frozenset[str]()
WITHOUT_SLASHES = frozenset({"sms", "slack", "email"})
"""The channels on which nobody writes slashes: there a word counts that stands alone."""
MENUS = frozenset({"slack", "telegram"})
"""The channels that show people a list of the words to pick from."""
A_NUMBER = " ?#?([0-9]{1,9})"
"""The argument of a word that means one of a numbered list."""


@dataclass(frozen=True, slots=True)
class Channels:
    """Where a word counts and where it is shown; None is everywhere."""

    alone: frozenset[str] | None = None
    """Where the word by itself counts. With a slash, or with what it takes, it does so everywhere."""
    listed: frozenset[str] | None = None
    """Where HELP has it."""
    unlisted: frozenset[str] = NOWHERE
    """Where HELP leaves it out all the same."""
    menu: frozenset[str] = MENUS
    """Which menus offer it."""


UNLISTED = Channels(listed=NOWHERE, menu=NOWHERE)
"""A word that the sentences name where there is use for it."""


@dataclass(frozen=True, slots=True)
class ChatCommand:
    """One word, declared once. `name` is what follows a slash, and what is stored of a message.

    `words` are what people write by language, the one that our sentences name first; `argument` is the pattern of what
    may follow, with a group for what counts of it. `help` is the line about it in HELP, the menus and docs/words.md.

    `answer` names a `core.turns.words.asked.WordHandler` as `module:function`: reading words does not load it.
    """

    name: str
    words: Mapping[str, tuple[str, ...]]
    help: str
    answer: str
    argument: str = ""
    channels: Channels = Channels()
    typed: str = ""
    """The word as plain text, where HELP shows another one than the name."""
    example: str = ""
    """How HELP writes it on every channel, where nothing shorter says enough."""
    spoken: bool = True
    """Whether it counts in a voice note as well."""
    loosely: bool = False
    """Whether it counts with any marks around it: a question mark too, and what a mail program puts there."""
    checked: bool = True
    """Whether the checks of a turn are asked first. A turn that the word begins asks them itself."""

    def __iter__(self) -> Iterator[str]:
        """Yield all that people write for it, in whichever language."""
        return (word for words in self.words.values() for word in words)

    @property
    def needs_argument(self) -> bool:
        """Return whether the word is a command only with what it takes."""
        return bool(self.argument) and self.channels.alone == NOWHERE

    def word(self) -> str:
        """Return the word as our sentences name it in the person's language."""
        return self.words.get(current_language(), self.words["en"])[0]

    def is_listed(self, channel: str) -> bool:
        """Return whether HELP has a line about it on a channel."""
        where = self.channels
        listed = where.listed is None or channel in where.listed
        return listed and channel not in where.unlisted

    def stands_alone(self, channel: str) -> bool:
        """Return whether it counts on a channel where it is all that was written."""
        return self.channels.alone is None or channel in self.channels.alone


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
