"""What messages may cost where each is billed by its segments, as texts are."""

from dataclasses import dataclass
from datetime import datetime

from core.ids import IdMaker
from core.json_types import JsonObject

OVER = "I have sent you as many texts as I may today, so answers stop until tomorrow."
MOVED = "I have sent you as many texts as I may today. Until tomorrow my answers are in your other chat with me."


@dataclass(frozen=True, slots=True)
class SegmentBudget:
    """The most segments of one message, of one person's day, and of all people's day.

    What is beyond a message's is kept until the person asks for it. A card is shown whole or not at all, so it may have
    twice as many.
    """

    message: int = 12
    person_day: int = 200
    all_day: int = 5_000

    @property
    def card(self) -> int:
        """Return the most segments of a card."""
        return 2 * self.message


@dataclass(frozen=True, slots=True)
class Bill:
    """What a call is about to cost, and the moment by which its day is told."""

    segments: int
    now: datetime
    budget: SegmentBudget

    def to_json(self, make_id: IdMaker) -> JsonObject:
        """Return what `begin_delivery` takes, with ids for what it may have to send instead."""
        return {
            "segments": self.segments,
            "now": self.now.isoformat(),
            "limit_of_person": self.budget.person_day,
            "limit_of_all": self.budget.all_day,
            "over": OVER,
            "moved": MOVED,
            "notice": make_id("out"),
            "copy": make_id("out"),
        }
