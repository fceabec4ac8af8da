"""The person whose turn it is, and their preferences about turns."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from core.people.access_policy import PersonRole


@dataclass(frozen=True, slots=True)
class TurnTenant:
    """The person whose turn it is. `timezone` is an IANA name, `language` a BCP 47 tag if it is known."""

    id: str
    name: str = ""
    language: str | None = None
    timezone: str = "UTC"
    role: PersonRole = PersonRole.MEMBER
    tier: str | None = None
    """The tier they were given; None for their role's."""
    timezone_known: bool = True
    """False while `timezone` is only the default."""


class WhileRunning(StrEnum):
    """The treatment of a message that comes in while a turn runs, as the person prefers."""

    STEER = "steer"
    """The turn takes it in before its next model call."""
    QUEUE = "queue"
    """It waits for the next turn."""
    INTERRUPT = "interrupt"
    """The turn ends without an answer, and the next turn takes both up."""


@dataclass(frozen=True, slots=True)
class QuietHours:
    """When not to disturb a person, in their own timezone; it may span midnight."""

    start: time
    end: time

    def covers(self, at: time) -> bool:
        if self.start <= self.end:
            return self.start <= at < self.end
        return at >= self.start or at < self.end

    def ending(self, now: datetime, zone: ZoneInfo) -> datetime | None:
        """Return when they end, in UTC; None outside them."""
        return next_time(self.end, now, zone) if self.covers(now.astimezone(zone).time()) else None


def next_time(at: time, now: datetime, zone: ZoneInfo) -> datetime:
    """Return the next moment, in UTC, when it is this time of day in a zone."""
    day = now.astimezone(zone).date()
    for ahead in range(3):
        moment = datetime.combine(day + timedelta(days=ahead), at, zone).astimezone(UTC)
        if moment > now:
            return moment
    raise AssertionError("within three days it is every time of day")
