"""The facts about approvals by which a decision is made, as `decisions.sql` in core/db/sql/functions returns them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from core.approvals.outcomes import DecisionOutcome
from core.approvals.types import NOT_BOTH, ApprovalState
from core.json_types import JsonObject, fields_in, moment_in

_VOID = {"amended": DecisionOutcome.AMENDED, NOT_BOTH: DecisionOutcome.NOT_BOTH}
"""The reasons of void approvals, which stand for the message of the decision."""


class Shown(StrEnum):
    """How much of an approval's cards has reached its person."""

    WHOLE = "whole"
    NOT_WHOLE = "not_whole"
    NOT_SENT = "not_sent"


@dataclass(frozen=True, slots=True)
class CardFacts:
    """The sending of a card. `arrived`: the number of its parts that have arrived.

    `sent`: it has left or may have left. `called`: a call that carries one of its parts may have arrived.
    `last_called`: the receipt of its last part is missing although the call may have arrived.
    """

    sent: bool
    parts: int
    arrived: int
    called: bool
    last_called: bool

    def is_whole(self, *, pressed: bool) -> bool:
        """Return whether its person can have read all of it. `pressed`: by one of its buttons, so its end is there.

        If its only part may have arrived, a person who knows the code has read it. A call that was refused, or not
        made because of its price, has shown nothing (promise 9).
        """
        arrived = self.arrived + (pressed and self.last_called)
        return 0 < self.parts <= arrived or (self.parts == 1 and self.called)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The state of the number that confirms an approval of high risk. `hash`: None if no number is open."""

    hash: str | None = None
    until: datetime | None = None
    tries: int = 0
    sent: int = 0

    def to_json(self) -> JsonObject:
        until = self.until.isoformat() if self.until else None
        return {"hash": self.hash, "until": until, "tries": self.tries, "sent": self.sent}


@dataclass(frozen=True, slots=True)
class ApprovalFacts:
    """An approval as it is when it is decided. `expires_at`: None until a card of it was sent.

    `intact`: its seal fits the stored row. `turn_open`: its turn can still act. `last`: its card is the last message in
    the conversation in which the word was written; only `word_facts` finds that out.
    """

    id: str
    state: ApprovalState
    high_risk: bool
    editable: bool
    expires_at: datetime | None
    timeout: timedelta
    intact: bool
    turn_open: bool
    decided_in: str
    confirmation: Confirmation
    cards: tuple[CardFacts, ...]
    last: bool = False

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "ApprovalFacts":
        """Read the result of `approval_facts`."""
        confirmation = row["confirmation"] | {"until": moment_in(row["confirmation"]["until"])}
        return cls(
            **fields_in(row, cls)
            | {
                "state": ApprovalState(row["state"]),
                "expires_at": moment_in(row["expires_at"]),
                "timeout": timedelta(seconds=row["timeout"]),
                "confirmation": Confirmation(**fields_in(confirmation, Confirmation)),
                "cards": tuple(CardFacts(**fields_in(card, CardFacts)) for card in row["cards"]),
            }
        )

    @property
    def void(self) -> DecisionOutcome | None:
        """Return why it is void: its person changed the message behind it, or another person did not agree."""
        return _VOID.get(self.decided_in)

    def expiry(self, now: datetime) -> datetime:
        """Return the expiry; if none is fixed yet, the one that `start_approval` fixes now."""
        return self.expires_at or (now + self.timeout).replace(microsecond=0)

    def shown(self, *, pressed: bool) -> Shown:
        """Return how much of it has been shown, in any place."""
        if any(card.is_whole(pressed=pressed) for card in self.cards):
            return Shown.WHOLE
        return Shown.NOT_WHOLE if any(card.sent for card in self.cards) else Shown.NOT_SENT


@dataclass(frozen=True, slots=True)
class WordFacts:
    """The approvals that an exact word may mean, and the unknown codes that were written here within an hour.

    `code`: the word's, or that of the card which it answers; "-" if it answers something else. `approvals`: the newest
    with that code, else all that wait with a card here, the oldest first. `warned`: the person was told within the hour
    that codes decide nothing here.
    """

    code: str
    approvals: tuple[ApprovalFacts, ...]
    wrong_codes: int = 0
    warned: bool = False

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "WordFacts":
        """Read the result of `word_facts`."""
        approvals = tuple(ApprovalFacts.from_json(one) for one in row["approvals"])
        return cls(**fields_in(row, cls) | {"approvals": approvals})


@dataclass(frozen=True, slots=True)
class PressFacts:
    """Whether a pressed button is known; its approval, None unless the presser is the person who was asked."""

    known: bool
    approval: ApprovalFacts | None

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "PressFacts":
        """Read the result of `press_facts`."""
        approval = row["approval"]
        return cls(row["known"], None if approval is None else ApprovalFacts.from_json(approval))
