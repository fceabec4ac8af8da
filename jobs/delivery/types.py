"""The values of a delivery: a call that may have begun, and the end of a row."""

from dataclasses import dataclass
from datetime import timedelta

from core.messaging.calls import Begun
from core.messaging.due_messages import Claim
from core.messaging.states import SendState


@dataclass(frozen=True, slots=True)
class BegunCall:
    """A call that may have begun, and the moment of the request to the database to begin it."""

    what: Begun
    asked: float


@dataclass(frozen=True, slots=True)
class RowEnd:
    """The state of a row. `asked`: its end was written together with the claim of the next row, if there is any.

    `again`: the time until an open row is due.
    """

    state: SendState
    following: Claim | None = None
    asked: bool = False
    again: timedelta | None = None
