"""The outbox of webhooks: claiming a message, reading it, and ending its delivery."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from core.db.database import Database
from core.db.outages import Owners
from core.ids import IdMaker
from core.json_types import JsonObject

LEASE = timedelta(seconds=30)
"""Three times that of a call."""
MOST_GIVEN_UP = 3
"""Messages given up in a row, each after a day of tries, with which an endpoint is disabled."""


class CallEnd(StrEnum):
    """The outcome of a call, as the SQL function `end_webhook` takes it."""

    SENT = "sent"
    AGAIN = "again"
    FAILED = "failed"
    """It was tried for a day, and is given up."""
    GONE = "gone"
    """410: the receiver wants nothing any more."""


@dataclass(frozen=True, slots=True)
class ClaimedMessage:
    """The right to send a message, until the lease ends."""

    tenant_id: str
    id: str
    owner: str


@dataclass(frozen=True, slots=True)
class OutgoingEvent:
    """A message with its endpoint. `attempts` counts the call that is about to be made."""

    kind: str
    data: JsonObject
    at: datetime
    attempts: int
    age: timedelta
    endpoint_id: str
    url: str
    generation: int
    rotated_at: datetime | None

    @property
    def body(self) -> bytes:
        """Return the payload, the same at each attempt."""
        payload = {"type": self.kind, "timestamp": self.at.isoformat(), "data": self.data}
        return json.dumps(payload, separators=(",", ":"), sort_keys=True).encode()


class WebhookOutbox:
    """Claim messages and record how their calls ended. Statements may be repeated."""

    def __init__(self, database: Database, make_id: IdMaker) -> None:
        self._database = database
        self._owners = Owners(make_id)

    async def claim(self, message_id: str | None, worker: str) -> ClaimedMessage | None:
        """Claim the named message, or the one that is due longest; None if none is due."""
        with self._owners.claiming(worker) as owner:
            row = await self._database.call("select * from claim_webhook($1,$2,$3)", message_id or None, owner, LEASE)
        return ClaimedMessage(row["tenant_id"], row["id"], owner) if row else None

    async def read(self, claimed: ClaimedMessage) -> OutgoingEvent | None:
        """Return a claimed message; None if another worker has it by now, or its endpoint was deleted."""
        rows = await self._database.rows(
            "select * from read_webhook($1,$2,$3)", claimed.tenant_id, claimed.id, claimed.owner
        )
        return OutgoingEvent(**rows[0]) if rows else None

    async def end(
        self, claimed: ClaimedMessage, end: CallEnd, status: int | None, reason: str, delay: timedelta
    ) -> None:
        """Record how a call ended."""
        await self._database.call(
            "select end_webhook($1,$2,$3,$4,$5,$6,$7,$8)",
            claimed.tenant_id,
            claimed.id,
            claimed.owner,
            end.value,
            status,
            reason,
            delay,
            MOST_GIVEN_UP,
        )
