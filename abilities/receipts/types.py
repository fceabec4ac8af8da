"""Receipts as values: an effect, the consent behind it, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Self, cast

from core.json_types import JsonObject

type Position = tuple[datetime, str]
"""The position of a receipt among a person's: its time and its number."""

FORGOTTEN = "[forgotten]"
"""The text that redaction leaves (`functions/redaction.sql`)."""


class ReceiptOutcome(StrEnum):
    """The outcome of an effect, as `receipt_outcome` names it."""

    DONE = "ok"
    UNKNOWN = "unknown"
    """It started, and may or may not have taken effect."""
    OPEN = "open"
    """It has started, and its turn goes on."""
    PART = "part"
    """An agent did a part, and then asked its person."""


@dataclass(frozen=True, slots=True)
class Card:
    """An approved card. `text` is Markdown as it was shown; `hash` is the SHA-256 of `sealed`, which is canonical JSON.

    `how`: the way of the decision, such as `button`; `decided_on`: its channel, or `operator` or `console`.
    """

    approval: str
    code: str
    summary: str
    text: str
    hash: str
    sealed: str
    how: str
    decided_on: str
    decided_at: datetime | None
    by: str = ""
    """The address that decided."""
    also: str = ""
    """The other person who agreed."""

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        """Read the card of a receipt."""
        by = told.get("decided_by") or {}
        plain = {name: str(told[name]) for name in ("approval", "code", "summary", "text", "hash", "sealed", "how")}
        at = told["decided_at"]
        return cls(
            **plain,
            decided_on=str(told["decided_on"]),
            decided_at=datetime.fromisoformat(at) if at else None,
            by=str(by.get("address", "")),
            also=str((told.get("also") or {}).get("name", "")),
        )


@dataclass(frozen=True, slots=True)
class UsedConsent:
    """The use of a standing consent by which a call ran unasked."""

    number: int
    use: int
    hash: str
    sealed: str


@dataclass(frozen=True, slots=True)
class Sent:
    """A part of a message to somebody else, with the provider's own id.

    `said`: the provider's last word, or how far the part has come.
    """

    channel: str
    to: str
    provider_id: str
    said: str

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        """Read a part of a receipt's message."""
        said = told["status"] or told["state"]
        return cls(str(told["channel"]), str(told["to"]), str(told["provider_id"] or ""), str(said))


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of an effect. Without `card` and `consent` nobody was asked: the tool needs no approval.

    `asked_on`: the channel of the talk, or `task`. `answer`: the words of the tool or service, for the model.
    `told`: all of it, as a file has it.
    """

    number: str
    at: datetime
    turn_id: str
    tool: str
    effect: str
    outcome: ReceiptOutcome
    asked_on: str
    asked: str
    answer: str
    card: Card | None
    consent: UsedConsent | None
    sent: tuple[Sent, ...]
    told: JsonObject

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        """Read a receipt as `receipt_of` makes it."""
        card, consent = told["card"], told["consent"]
        return cls(
            **{name: str(told[name]) for name in ("number", "tool", "effect", "asked_on", "asked")},
            at=datetime.fromisoformat(told["at"]),
            turn_id=str(told["turn"]),
            outcome=ReceiptOutcome(told["outcome"]),
            answer=str(told["answer"]["text"]),
            card=Card.read(card) if card else None,
            consent=UsedConsent(*(consent[name] for name in ("number", "use", "hash", "sealed"))) if consent else None,
            sent=tuple(Sent.read(part) for part in told["sent"]),
            told=cast(JsonObject, told),
        )

    @property
    def position(self) -> Position:
        """Return its position among its person's receipts."""
        return self.at, self.number


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of a period's receipts, of those without a card, with an unknown outcome, and under way."""

    receipts: int = 0
    without_card: int = 0
    unknown: int = 0
    under_way: int = 0


@dataclass(frozen=True, slots=True)
class Days:
    """The days of a period, both included, in the person's own timezone."""

    first: date
    last: date
