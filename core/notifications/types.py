"""The values of notifications, which are addressed to a person and not to a chat."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from core.messaging.messages import Action, Media


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

    async def next_digest(self, tenant_id: str) -> datetime:
        """Return when the person's next digest comes."""
        ...

    async def chat_of(self, tenant_id: str) -> str | None:
        """Return the conversation in which news reaches a person first."""
        ...
