"""Messages that answer a message of an ability's: they go to the ability, and never let their sender in."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from core.db.database import Database
from core.json_types import JsonObject
from core.messaging.channels import Received
from core.messaging.messages import InboundMessage


class TakeAnswer(Protocol):
    """Take a message that answers a message of an ability's, and return the result; None for any other message.

    Called for messages that are not stored as their sender's. `arrival` is the message in the form that the inbox's
    SQL functions take. Messages of people that the ability's `sql/awaited.sql` selects are held back for it, too.
    """

    async def __call__(
        self, database: Database, message: InboundMessage, arrival: JsonObject, now: datetime, /
    ) -> Received | None: ...


_of_abilities: list[TakeAnswer] = []


def use_answers(takers: Iterable[TakeAnswer]) -> None:
    """Register the takers of the abilities, in place of any earlier takers."""
    _of_abilities[:] = takers


def takers_of_answers() -> Sequence[TakeAnswer]:
    """Return the registered takers."""
    return tuple(_of_abilities)
