"""The values of notifications, which are addressed to a person and not to a chat."""

from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from core.json_types import JsonObject
from core.language.catalogue import speaking
from core.messaging.messages import Action, Media
from core.people.tenant import QuietHours


class Urgency(StrEnum):
    """How a notification meets quiet hours and the daily cap."""

    URGENT = "urgent"
    """Passes both; a muted category stays muted."""
    NORMAL = "normal"
    LOW = "low"
    """Waits for the next digest, even outside quiet hours."""


@dataclass(frozen=True, slots=True)
class Notification:
    """News for a person.

    `text` is Markdown; `title` is used if the channel has titles (push, email). `category` can be muted by the person
    (`reminder`, `price`, `mail`), lower case. Notifications with the same `dedupe_key` are a single message (None: the
    category with the text). `task_id` and `run_id` name the cause. `conversation_id` is tried first, while it is the
    tenant's and can be reached.
    """

    text: str
    category: str = "general"
    urgency: Urgency = Urgency.NORMAL
    dedupe_key: str | None = None
    title: str = ""
    task_id: str | None = None
    run_id: str | None = None
    conversation_id: str | None = None
    actions: tuple[Action, ...] = ()
    media: tuple[Media, ...] = ()
    outside: bool = False
    """Whether it has words of others, which the conversation's history leaves out."""


class NotificationStatus(StrEnum):
    """The states of a notification."""

    QUEUED = "queued"
    """In the outbox of a conversation or of a push or email address."""
    HELD = "held"
    """Waiting for the next digest: quiet hours, the daily cap, or low urgency."""
    MUTED = "muted"
    DUPLICATE = "duplicate"
    """Never stored: the same news was notified before."""
    NOWHERE = "nowhere"
    """The person cannot be reached anywhere; stored for `tasks why`."""
    SENT = "sent"
    FAILED = "failed"
    DIGESTED = "digested"
    """Sent as part of a digest."""


@dataclass(frozen=True, slots=True)
class Notified:
    """The result of a notification: the `id` of its row, and the channel it goes to (`where`), None unless queued."""

    id: str
    fate: NotificationStatus
    where: str | None = None

    @property
    def reaches(self) -> bool:
        """Return whether it reaches the person, now or with the next digest."""
        return self.fate in (NotificationStatus.QUEUED, NotificationStatus.HELD, NotificationStatus.DUPLICATE)


@dataclass(frozen=True, slots=True)
class NotificationTarget:
    """An address for notifications to a person: an identity of theirs, with its conversation, if any."""

    identity_id: str
    channel: str
    account: str
    peer: str
    thread: str = ""
    conversation_id: str | None = None
    last_inbound_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Recipient:
    """A person as the policy sees them.

    `recent`: the times of notifications that count for the daily cap. `language`: a BCP 47 tag, if it is known.
    """

    timezone: str | None = None
    preferred_channel: str | None = None
    quiet: QuietHours | None = None
    muted: tuple[str, ...] = ()
    recent: tuple[datetime, ...] = ()
    places: tuple[NotificationTarget, ...] = ()
    language: str | None = None

    def speaking(self) -> AbstractContextManager[None]:
        """Use the person's language for the sentences inside."""
        return speaking(self.language)


@dataclass(frozen=True, slots=True)
class RenderedNotification:
    """A target with the text for it."""

    place: NotificationTarget
    text: str
    actions: tuple[Action, ...] = ()
    media: tuple[Media, ...] = ()

    def to_json(self) -> JsonObject:
        """Return the form that the SQL functions take."""
        content = asdict(self)
        target = content.pop("place")
        return content | {name: target[name] for name in ("identity_id", "channel", "account", "peer", "thread")}


@dataclass(frozen=True, slots=True)
class NotifyResult:
    """The result of a call: the notification's status, and the conversation and channel of its queued message."""

    state: NotificationStatus
    id: str
    conversation_id: str | None = None
    channel: str | None = None


@dataclass(frozen=True, slots=True)
class StoredNotification:
    """A stored notification.

    `unscheduled`: its time is still to be decided, or its person changed their preferences. `aside`: send it only to
    one-way channels; the question itself is in another chat.
    """

    id: str
    notification: Notification
    state: NotificationStatus
    at: datetime
    tried: tuple[str, ...] = ()
    unscheduled: bool = False
    reason: str = ""
    repeats: int = 0
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of a call: now, and the time to try another place unless the person has reacted."""

    now: datetime
    fall_back_at: datetime | None = None


DAILY_CAP = 30


@dataclass(frozen=True, slots=True)
class NotificationPolicy:
    """The operator's policy: notifications a day, and when to try another place without a reaction."""

    daily_cap: int = DAILY_CAP
    fall_back_after: timedelta | None = None


class Notifier(Protocol):
    """Notifies people; `notify/service.py` implements it."""

    async def notify(self, tenant_id: str, notification: Notification) -> Notified:
        """Store a notification, to be sent as the person prefers. Raises `StoreUnavailable` when it is not stored."""
        ...


class PersonNotifier(Notifier, Protocol):
    """Notifies people, and knows their wishes about time and place; `notify/service.py` implements it."""

    async def quiet_until(self, tenant_id: str) -> datetime | None:
        """Return the end of a person's quiet hours; None outside them."""
        ...

    async def chat_of(self, tenant_id: str) -> str | None:
        """Return the conversation in which news reaches a person first."""
        ...
