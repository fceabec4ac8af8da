"""A call to a provider: the message as it is sent, the permission to send it, and its outcome."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from core.messaging.channels import Part, Receipt
from core.messaging.states import CallOutcome, IdentityState, SendState


class Begun(StrEnum):
    """The answer to whether a call may leave."""

    GO = "go"
    SENT = "sent"
    """A callback has proved that the part arrived."""
    UNREACHABLE = "unreachable"
    """The person has stopped or blocked the channel."""
    OVER_PERSON = "over_person"
    """The person's segments of the day are used up: the message was ended, and sent elsewhere if possible."""
    OVER_ALL = "over_all"
    """The segments of the day for all people together are used up."""
    KEPT = "kept"
    """Another rendering is stored already and must be sent instead."""


@dataclass(frozen=True, slots=True)
class PartEnd:
    """The end of an attempt: the part's new `state`, the `outcome` for the record, the pause before the next attempt.

    `identity_state`: the state of the person's address as the attempt showed it; None if it showed nothing.
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
    """A message as its channel sends it. `text`: its translated sentences; None if it has none."""

    parts: Sequence[Part]
    text: str | None = None
