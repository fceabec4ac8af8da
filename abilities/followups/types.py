"""The values of follow-ups."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from enum import StrEnum

EXECUTOR = "follow_up"
"""The executor of a follow-up's task."""
CATEGORY = "followup"
"""The kind of news by which people mute proposals and follow-ups."""
NOES = 3
"""Noes in a row after which nothing is proposed for a while."""
PAUSE = timedelta(days=30)
_AFTER = timedelta(hours=2)
_MORNING, _EVENING = time(9), time(20)
"""The part of a person's day in which they are asked."""


class State(StrEnum):
    """The states of a follow-up."""

    PASSED = "passed"
    """It was not proposed."""
    PROPOSED = "proposed"
    KEPT = "kept"
    DECLINED = "declined"
    UNANSWERED = "unanswered"
    ASKED = "asked"
    OVER = "over"
    """It ended before the person was asked: by their word, or with its memory."""


class Outcome(StrEnum):
    """The outcome of a decision, as `decide_followup` returns it."""

    KEPT = "kept"
    DECLINED = "declined"
    PAUSED = "paused"
    """Declined, and nothing is proposed for a while."""
    ENDED = "ended"
    """It had been kept, and is no longer."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A follow-up. `words`: the person's. `here`: it was decided in this turn."""

    memory_id: str
    number: int
    state: State
    ask_at: datetime
    words: str
    task_id: str | None = None
    here: bool = False


def moment_to_ask(happens_at: datetime, zone: tzinfo) -> datetime:
    """Return when to ask how something went: two hours after it, or in the morning after that, never at night."""
    local = (happens_at + _AFTER).astimezone(zone)
    if _MORNING <= local.time() <= _EVENING:
        return local
    day = local.date() + timedelta(days=int(local.time() > _EVENING))
    return datetime.combine(day, _MORNING, zone)
