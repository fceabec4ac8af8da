"""The emulated team's memory: channels with their messages, views, triggers, and deliveries."""

import secrets
import string
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from workbench.simulator.base import OpenedFile
from workbench.simulator.config import Person, SimulatorConfig
from workbench.simulator.journal import Json
from workbench.simulator.slack.shapes import Obj

SCOPES = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "reactions:read",
    "reactions:write",
    "team:read",
    "users:read",
    "users:read.email",
)
GENERAL, GROUP_DM = "C0GENERAL1", "G0GROUPDM1"


@dataclass(slots=True)
class Message:
    """A message. `thread_ts` is its root's, and empty for a root; times are Slack's `ts` strings.

    `text` is escaped as Slack's is. `markdown` marks text in Markdown. `streamed` is when a stream was last touched,
    None for a message that is not streaming.
    """

    ts: str
    channel: str
    user: str
    text: str = ""
    markdown: bool = False
    blocks: list[Json] = field(default_factory=list)
    metadata: Obj = field(default_factory=dict)
    thread_ts: str = ""
    broadcast: bool = False
    bot_id: str | None = None
    app_id: str | None = None
    client_msg_id: str | None = None
    edited_by: str = ""
    edited_ts: str = ""
    streamed: float | None = None
    tasks: dict[str, Json] = field(default_factory=dict)
    ephemeral_for: str = ""
    files: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    reactions: dict[str, list[str]] = field(default_factory=dict)
    inviter: str = ""
    """Who let `user` into the channel: the message tells that they joined."""


@dataclass(slots=True)
class Status:
    """The line under a thread while the app works; gone after a message or two minutes."""

    text: str
    at: float


@dataclass(slots=True)
class Channel:
    """A direct conversation with `user`, or (user empty) a channel or group conversation with the bot in it."""

    id: str
    user: str = ""
    messages: dict[str, Message] = field(default_factory=dict)
    ephemeral: list[Message] = field(default_factory=list)
    statuses: dict[str, Status] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    prompts: list[Json] = field(default_factory=list)
    name: str = "general"
    creator: str = ""

    @property
    def kind(self) -> str:
        return "im" if self.user else "mpim" if self.id == GROUP_DM else "channel"

    def replies(self, root: str) -> list[Message]:
        return [message for message in self.messages.values() if message.thread_ts == root]


@dataclass(slots=True)
class View:
    """A modal or a home tab. `body` is the app's, with ids filled in; `values` are the person's input."""

    id: str
    user: str
    body: Obj
    hash: str
    root: str = ""
    previous: str = ""
    values: Obj = field(default_factory=dict)
    errors: Obj = field(default_factory=dict)


@dataclass(slots=True)
class Trigger:
    """A person's gesture, exchangeable once within three seconds for a modal."""

    user: str
    at: float
    used: bool = False
    view: str = ""


@dataclass(slots=True)
class ResponseUrl:
    """A URL for an app's answers to an interaction: five times in thirty minutes."""

    channel: str
    user: str
    at: float
    message_ts: str = ""
    uses: int = 0


@dataclass(slots=True)
class Delivery:
    """A delivery to the gateway, with the outcome of each attempt."""

    number: int
    kind: str
    about: str
    payload: Obj
    user: str = ""
    state: Literal["pending", "delivered", "failed"] = "pending"
    attempts: list[Json] = field(default_factory=list)


@dataclass(slots=True)
class Switches:
    """Switches for tests. `token`: ok, or the error that every call gets (account_inactive, token_revoked)."""

    token: str = "ok"  # noqa: S105 - a state, not a token
    scopes: tuple[str, ...] = SCOPES
    strict_rate: bool = False
    own_events: bool = True
    messages_tab: bool = True
    commands: tuple[str, ...] = ("/valet",)


class World:
    """The team's memory; a reset creates a new memory after `before`. `now` is people's time in Unix seconds."""

    def __init__(self, config: SimulatorConfig, now: Callable[[], float], before: "World | None" = None) -> None:
        self.config = config
        self.now = now
        self.switches = Switches()
        self.disabled: set[str] = set()
        self.channels = {GENERAL: Channel(GENERAL)}
        for person in config.everyone:
            self.join(person)
        self.views: dict[str, View] = {}
        self.stacks: dict[str, list[str]] = {}
        self.homes: dict[str, View] = {}
        self.triggers: dict[str, Trigger] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        self.deliveries: list[Delivery] = []
        self.uploads: dict[str, Obj] = {}
        self.contents: dict[str, OpenedFile] = {}
        self.posted: dict[str, float] = {}
        self.last_ts: int = before.last_ts if before else 0

    def join(self, person: Person) -> None:
        """Create a person's direct conversation with the app."""
        direct = dm_id(person.slack_user)
        self.channels[direct] = Channel(direct, person.slack_user)

    def group_dm(self, creator: str) -> Channel:
        """Return the group conversation of everybody and the app, which somebody begins by writing in it."""
        names = "--".join([*(person.key for person in self.config.everyone), self.config.slack.bot_name])
        return self.channels.setdefault(GROUP_DM, Channel(GROUP_DM, name=f"mpdm-{names}-1", creator=creator))

    def person(self, user: str) -> Person | None:
        return next((person for person in self.config.everyone if person.slack_user == user), None)

    def channel(self, name: str) -> Channel | None:
        """Find a channel by its id, or a direct conversation by the person's user id."""
        return self.channels.get(name) or self.channels.get(dm_id(name) if self.person(name) else "")

    def next_ts(self) -> str:
        """Return a `ts`: the time in microseconds, never the same twice, ever growing."""
        self.last_ts = max(int(self.now() * 1_000_000), self.last_ts + 1)
        return f"{self.last_ts // 1_000_000}.{self.last_ts % 1_000_000:06d}"

    def add(self, message: Message) -> Message:
        """Store a message; a message in a thread clears the status there."""
        channel = self.channels[message.channel]
        if message.ephemeral_for:
            channel.ephemeral.append(message)
        else:
            channel.messages[message.ts] = message
        if message.bot_id:
            channel.statuses.pop(message.thread_ts or message.ts, None)
        return message

    def trigger(self, user: str, view: str = "") -> str:
        made = f"{secrets.randbelow(10**12)}.{secrets.randbelow(10**12)}.{secrets.token_hex(16)}"
        self.triggers[made] = Trigger(user, self.now(), view=view)
        return made

    def deliver(self, kind: str, payload: Obj, about: str, user: str) -> Delivery:
        delivery = Delivery(len(self.deliveries) + 1, kind, about, payload, user)
        self.deliveries.append(delivery)
        return delivery


def dm_id(user: str) -> str:
    return f"D{user[1:]}"


def make_id(prefix: str, length: int = 10) -> str:
    """Return an id in Slack's style, such as Ev0PV52K21."""
    letters = string.ascii_uppercase + string.digits
    return prefix + "0" + "".join(secrets.choice(letters) for _ in range(length - 1))


def block_token() -> str:
    """Return Slack's value for a missing block_id or action_id."""
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(5))
