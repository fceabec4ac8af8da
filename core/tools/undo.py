"""Offers to take a call back: a tool makes them while it runs, and the journal stores them with the call's result."""

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
"""Characters of a title; a longer title is cut."""
MAX_ARGUMENTS = 100_000
"""Characters of the arguments, as JSON."""
MAX_OFFERS = 20
"""Offers of a call."""
INSTEAD = "instead"
_STORED = "undo"
"""The key of the offers in a step's result; the store keeps them in a table of their own."""


@dataclass(frozen=True, slots=True)
class UndoOffer:
    """An action, `title` in words, and the call that takes it back until `until`."""

    title: str
    tool: str
    """Empty if it cannot be taken back: the arguments then name the alternative under `INSTEAD`."""
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
    """A call's offers to take it back: `context.undo` of a tool."""

    clock: Clock = field(default_factory=Clock)
    _made: list[UndoOffer] = field(default_factory=list)

    def offer(self, title: str, tool_name: str, arguments: JsonObject, *, minutes: int = MINUTES) -> bool:
        """Offer to take back this call's action: "undo" then runs `tool_name` with these arguments.

        That tool is declared with `inverse=True`, and returns a sentence for the person about the undone action.
        `title` describes the action as a noun ("Reminder: call mum"). The offer counts once the call has succeeded,
        for `minutes`. Return False if the arguments are too long to be stored, so that nothing is offered.
        """
        return self._add(title, tool_name, arguments, minutes)

    def final(self, title: str, instead: str, *, minutes: int = MINUTES) -> None:
        """Note that this call's action cannot be taken back: "undo" then says so, and undoes nothing before it.

        `instead` is a sentence for the person: the reason and the alternative.
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
