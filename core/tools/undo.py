"""What takes a call back: a tool offers it while it runs, and the journal stores it with the call's result."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from core.clock import Clock
from core.json_types import JsonObject, storable

MINUTES = 60
"""How long a call can be taken back unless its tool says otherwise."""
MAX_MINUTES = 24 * 60
MAX_TITLE = 200
"""Characters of a title; a longer one is cut."""
MAX_ARGUMENTS = 100_000
"""Characters of the arguments, as JSON."""
MAX_OFFERS = 20
"""Offers of one call."""
INSTEAD = "instead"
_STORED = "undo"
"""Where a step's result holds the offers; the store keeps them in a table of their own."""


@dataclass(frozen=True, slots=True)
class UndoOffer:
    """One thing that was done, `title` in words, and the call that takes it back until `until`."""

    title: str
    tool: str
    """Empty for what cannot be taken back: the arguments then say under `INSTEAD` what can be done."""
    arguments: JsonObject
    made_at: datetime
    until: datetime

    def to_json(self) -> JsonObject:
        """Return it as the journal stores it."""
        return {
            "title": self.title,
            "tool": self.tool,
            "arguments": self.arguments,
            "made_at": self.made_at.isoformat(),
            "until": self.until.isoformat(),
        }


@dataclass(slots=True)
class UndoOffers:
    """What one call offers to take back: `context.undo` of a tool."""

    clock: Clock = field(default_factory=Clock)
    _made: list[UndoOffer] = field(default_factory=list)

    def offer(self, title: str, tool_name: str, arguments: JsonObject, *, minutes: int = MINUTES) -> bool:
        """Offer to take back what this call has done: "undo" then runs `tool_name` with these arguments.

        That tool is declared with `inverse=True`, and returns what it took back, in a sentence for the person. `title`
        says what was done, as a noun ("Reminder: call mum"). The offer counts once the call has succeeded, for
        `minutes`. Return False where the arguments are too long to be kept, so that nothing is offered.
        """
        return self._add(title, tool_name, arguments, minutes)

    def final(self, title: str, instead: str, *, minutes: int = MINUTES) -> None:
        """Note that what this call has done cannot be taken back: "undo" then says so, and undoes nothing before it.

        `instead` is a sentence for the person: why not, and what can be done.
        """
        self._add(title, "", {INSTEAD: instead}, minutes)

    def _add(self, title: str, tool_name: str, arguments: JsonObject, minutes: int) -> bool:
        words = " ".join(title.split())
        if not words or not 0 < minutes <= MAX_MINUTES:
            raise ValueError(f"an undo has a title, and 1 to {MAX_MINUTES} minutes")
        kept: JsonObject = storable(arguments)
        if len(self._made) >= MAX_OFFERS or len(json.dumps(kept, ensure_ascii=False)) > MAX_ARGUMENTS:
            return False
        now = self.clock.now()
        cut = words if len(words) <= MAX_TITLE else f"{words[: MAX_TITLE - 1]}…"
        self._made.append(UndoOffer(cut, tool_name, kept, now, now + timedelta(minutes=minutes)))
        return True

    @property
    def offered(self) -> tuple[UndoOffer, ...]:
        """Return the offers in the order in which they were made."""
        return tuple(self._made)


def note_offers(offers: Sequence[UndoOffer], result: JsonObject) -> None:
    """Write a call's offers into the result that the journal gets."""
    if offers:
        result[_STORED] = [offer.to_json() for offer in offers]
