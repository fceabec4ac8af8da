"""Messages that answer what an ability sent to somebody: they are its own, and are nobody's way in."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from core.db.database import Database
from core.json_types import JsonObject
from core.messaging.channels import Received
from core.messaging.messages import InboundMessage


class TakeAnswer(Protocol):
    """Takes a message that is not kept as its sender's, if it answers what an ability sent; else returns None.

    `arrival` is the message as the SQL functions of the inbox take it. What the ability's `sql/awaited.sql` names is
    held back for it from people, too.
    """

    async def __call__(
        self, database: Database, message: InboundMessage, arrival: JsonObject, now: datetime, /
    ) -> Received | None: ...


_of_abilities: list[TakeAnswer] = []


def use_answers(takers: Iterable[TakeAnswer]) -> None:
    """Ask these of abilities, instead of those given before."""
    _of_abilities[:] = takers


def takers_of_answers() -> Sequence[TakeAnswer]:
    """Return what abilities take answers by."""
    return tuple(_of_abilities)
