"""The values of a notification on its way: its person as the policy sees them, its place, and how it stands."""

from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import datetime

from core.json_types import JsonObject
from core.language.catalogue import speaking
from core.messaging.messages import Action, Media
from core.notifications.types import Notification, NotificationStatus
from core.people.tenant import QuietHours


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
