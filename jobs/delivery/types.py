"""The values of a delivery: a call that may have begun, and how a row ended."""

from dataclasses import dataclass
from datetime import timedelta

from core.messaging.calls import Begun
from core.messaging.due_messages import Claim
from core.messaging.states import SendState


@dataclass(frozen=True, slots=True)
class BegunCall:
    """A call that may have begun, and since when the database was asked whether it may."""

    what: Begun
    asked: float


@dataclass(frozen=True, slots=True)
class RowEnd:
    """How a row stands; with `asked`, its end told at once what to send after it. `again`: when an open one is due."""

    state: SendState
    following: Claim | None = None
    asked: bool = False
    again: timedelta | None = None
