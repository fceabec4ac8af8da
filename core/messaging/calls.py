"""A call to a provider: what it sends, whether it may leave, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from core.messaging.channels import Part, Receipt
from core.messaging.states import CallOutcome, IdentityState, SendState


class Begun(StrEnum):
    """Whether a call may leave."""

    GO = "go"
    SENT = "sent"
    """A callback has proved that the part arrived."""
    UNREACHABLE = "unreachable"
    """The person has stopped or blocked the channel."""
    OVER_PERSON = "over_person"
    """The person has had all of the day's segments: the message was ended, and sent elsewhere where that can be."""
    OVER_ALL = "over_all"
    """All people together have had all of the day's segments."""
    KEPT = "kept"
    """Another rendering is stored, and is to be sent instead."""


@dataclass(frozen=True, slots=True)
class PartEnd:
    """What became of one attempt: `state` of the part, `outcome` for the record, when to come back.

    `identity_state` is what the attempt showed of the person's address; None where it showed nothing.
    """

    state: SendState
    outcome: CallOutcome
    receipt: Receipt | None = None
    error_code: str = ""
    reason: str = ""
    delay: timedelta = timedelta()
    identity_state: IdentityState | None = None


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message as its channel sends it. `text`: the words that its sentences became; None where it has none."""

    parts: Sequence[Part]
    text: str | None = None
