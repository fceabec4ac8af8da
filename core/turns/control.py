"""What reaches a turn while it runs, as Postgres has it."""

from collections.abc import Sequence
from typing import cast

import asyncpg

from core.db.database import Database
from core.journal.postgres import Lease
from core.loop.control import TurnMessage
from core.messaging.messages import Origin


class PostgresControl:
    """The person's stop and the messages they wrote while the turn ran. Implements `TurnControl`."""

    def __init__(self, database: Database, lease: Lease, turn_id: str) -> None:
        self._database = database
        self._lease = lease
        self._turn_id = turn_id

    async def stopped(self) -> str | None:
        row = await self._database.one("select read_stop($1,$2) as message", self._lease.tenant_id, self._turn_id)
        return cast("str | None", row["message"])

    async def absorb(self) -> Sequence[TurnMessage]:
        rows = await self._database.rows("select * from read_waiting($1,$2)", self._lease.tenant_id, self._turn_id)
        return [turn_message(row) for row in rows]


def turn_message(row: asyncpg.Record) -> TurnMessage:
    """Return an inbound row as the turn sees it."""
    origin = Origin(row["origin"])
    return TurnMessage(row["id"], row["text"], row["received_at"], row["media_count"], row["about"] or None, origin)
