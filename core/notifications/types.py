"""What we tell a person unasked: addressed to the person, not to a chat."""

from dataclasses import dataclass
from datetime import timedelta
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
    """News for one person.

    `text` is Markdown; `title` is for places that have one (push, email), never repeated elsewhere.
    `category` is what a person may mute (`reminder`, `price`, `mail`), lower case. `dedupe_key`: the same
    news twice is one message (empty: the category with the text). `task_id` and `run_id` say what caused it.
    `conversation_id` asks for that conversation first, while it is the tenant's and can be reached.
    """

    text: str
    category: str = "general"
    urgency: Urgency = Urgency.NORMAL
    dedupe_key: str = ""
    title: str = ""
    task_id: str = ""
    run_id: str = ""
    conversation_id: str = ""
    actions: tuple[Action, ...] = ()
    media: tuple[Media, ...] = ()


class NotificationStatus(StrEnum):
    """What became of a notification when it was handed in."""

    OWED = "owed"
    """In the outbox of a conversation, or due at a push or email address."""
    HELD = "held"
    """Kept for the next digest: quiet hours, the daily cap, or low urgency."""
    MUTED = "muted"
    DUPLICATE = "duplicate"
    NOWHERE = "nowhere"
    """There is no place where this person can be reached; kept, for `tasks why`."""


@dataclass(frozen=True, slots=True)
class Notified:
    """What became of it: `id` is the notification's row, `where` the channel it goes to, empty unless owed."""

    id: str
    fate: NotificationStatus
    where: str = ""

    @property
    def reaches(self) -> bool:
        """Whether the person gets it, now or with the next digest."""
        return self.fate in (NotificationStatus.OWED, NotificationStatus.HELD, NotificationStatus.DUPLICATE)


DAILY_CAP = 30


@dataclass(frozen=True, slots=True)
class NotificationPolicy:
    """How the operator wants people to be told: so many a day, and elsewhere without a reaction after so long."""

    daily_cap: int = DAILY_CAP
    fall_back_after: timedelta | None = None


class Notifier(Protocol):
    """Tell a person something; `notify/service.py` implements it."""

    async def notify(self, tenant_id: str, notification: Notification) -> Notified:
        """Keep the news and let it go out as the person wants it. Raises `StoreUnavailable` when not kept."""
        ...
