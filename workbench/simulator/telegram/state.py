"""The emulated Telegram's state: chats, messages, files, presses, and the bot's own settings."""

import random
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from workbench.simulator.config import Person, SimulatorConfig, TelegramConfig
from workbench.simulator.journal import Json
from workbench.simulator.keeping import Content
from workbench.simulator.telegram.entities import FormattedText
from workbench.simulator.telegram.updates import Updates, Webhook

PRIVATE, GROUP, SUPERGROUP = "private", "group", "supergroup"
_BEGIN_OF_2026 = 1_767_225_600
"""In Unix seconds."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file on Telegram's side. `path` is the path that getFile returns."""

    file_id: str
    unique_id: str
    path: str
    name: str
    content_type: str
    data: Content
    seconds: int = 1


@dataclass(slots=True)
class Message:
    """A message in a chat; `sender` is a user id, the bot's or a person's. `media` is photo, document or voice."""

    message_id: int
    chat_id: int
    sender: int
    date: int
    text: FormattedText
    keyboard: dict[str, Json] | None = None
    edited: int = 0
    reply_to: int = 0
    media: str = ""
    file: StoredFile | None = None
    service: dict[str, Json] = field(default_factory=dict)
    reactions: dict[int, list[str]] = field(default_factory=dict)
    """The reactions of the bot and of people, by their ids."""
    unheard: bool = False
    """Whether privacy mode kept it from the bot."""
    thread: int = 0
    """Its topic: the id of the message with which that began; 0 for the general one."""
    anonymous: bool = False
    """Whether an administrator wrote it in the group's name."""

    @property
    def about(self) -> str:
        """Tie calls in the journal to this message."""
        return f"{self.chat_id}:{self.message_id}"


@dataclass(slots=True)
class Draft:
    """The preview of sendMessageDraft, which disappears by itself."""

    draft_id: int
    text: FormattedText
    until: float


@dataclass(slots=True)
class Chat:
    """A chat that the bot knows: private with a person, or a group."""

    chat_id: int
    kind: str
    title: str = ""
    person: Person | None = None
    messages: dict[int, Message] = field(default_factory=dict)
    blocked: bool = False
    deactivated: bool = False
    migrated_to: int = 0
    action: str = ""
    action_until: float = 0.0
    draft: Draft | None = None
    members: dict[int, str] = field(default_factory=dict)
    """The status of each person in a group, by their id: core.telegram.org/bots/api#chatmember."""
    left: bool = False
    """Whether the bot was removed from the group."""
    topics: dict[int, str] = field(default_factory=dict)
    """The names of a forum's topics, by their ids; the general one has none."""


@dataclass(slots=True)
class Press:
    """A callback query: its person and button, and the bot's answer."""

    query_id: str
    person: Person
    message: Message
    data: str
    at: float
    patience: float
    answered: bool = False
    text: str = ""
    alert: bool = False


@dataclass(slots=True)
class Settings:
    """The bot's description of itself, by a scope as canonical JSON and a language, or by a name and a language."""

    commands: dict[tuple[str, str], list[Json]] = field(default_factory=dict)
    words: dict[tuple[str, str], str] = field(default_factory=dict)
    menu_buttons: dict[int, dict[str, Json]] = field(default_factory=dict)


def first_number() -> int:
    """Return a number above those of every earlier run: the gateway stores them, and ignores known numbers.

    It grows faster than people write: by eight a second of the machine's time, since people's own may be set back
    between two runs. Telegram's numbers fit into 32 bits; these do until 2034.
    """
    return int((time.time() - _BEGIN_OF_2026) * 8)


class World:
    """All state of a bot. `now` returns people's time in Unix seconds; `before` is the world that a reset ends."""

    def __init__(self, config: SimulatorConfig, now: Callable[[], float], before: "World | None" = None) -> None:
        self.config = config
        self.bot: TelegramConfig = config.telegram
        self.now = now
        self.random = random.Random(config.seed)
        # Update ids start anywhere: https://core.telegram.org/bots/api#update.
        self.updates: Updates = Updates(now, before.updates.next_id if before else first_number())
        # The bot's settings belong to the bot: a reset deletes people's messages.
        self.webhook: Webhook = before.webhook if before else Webhook()
        self.chats: dict[int, Chat] = {}
        self.files: dict[str, StoredFile] = {}
        self.presses: dict[str, Press] = {}
        self.settings: Settings = before.settings if before else Settings()
        self.group_id = 0
        self.privacy = True
        """Privacy mode, which the bot's owner sets with BotFather."""
        self.last_message: int = before.last_message if before else first_number()

    def date(self) -> int:
        """Return the time as messages carry it: whole Unix seconds."""
        return int(self.now())

    def next_message_id(self) -> int:
        """Return a message id, growing over all chats, as in private chats and small groups."""
        self.last_message += 1
        return self.last_message

    def private_chat(self, person: Person) -> Chat | None:
        """Return a person's private chat, which begins when they write or press Start."""
        return self.chats.get(person.telegram_user)

    def person_of(self, user_id: int) -> Person | None:
        return next((p for p in self.config.everyone if p.telegram_user == user_id), None)

    def keep_file(self, name: str, content_type: str, data: bytes, folder: str, seconds: int = 1) -> StoredFile:
        """Store a file and give it ids and a path; `seconds`: how long it plays."""
        number = len(self.files) + 1
        unique = f"AQ{secrets.token_hex(8)}"
        file_id = f"BQACAgIAAxk{number:04d}{secrets.token_hex(20)}"
        ending = name.rsplit(".", 1)[-1] if "." in name else "bin"
        kept = StoredFile(file_id, unique, f"{folder}/file_{number}.{ending}", name, content_type, data, seconds)
        self.files[file_id] = kept
        return kept
