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
        async with self._database.tenant(self._lease.tenant_id) as connection:
            message = await connection.fetchval(
                "select stop_message from turns where tenant_id = $1 and id = $2",
                self._lease.tenant_id,
                self._turn_id,
            )
        return cast("str | None", message)

    async def absorb(self) -> Sequence[TurnMessage]:
        async with self._database.tenant(self._lease.tenant_id) as connection:
            rows = await connection.fetch(
                "select i.id, i.text, i.received_at, jsonb_array_length(i.media) as media_count, i.origin,"
                " answered_card(i.tenant_id, i.conversation_id, i.reply_to) as about"
                " from inbound i join turns t on t.tenant_id = i.tenant_id and t.conversation_id = i.conversation_id"
                " where t.tenant_id = $1 and t.id = $2 and i.state = 'waiting' and i.seq < coalesce("
                "  (select min(k.seq) from inbound k where k.tenant_id = i.tenant_id"
                "   and k.conversation_id = i.conversation_id and k.state = 'waiting' and k.command is not null),"
                "  i.seq + 1) order by i.seq",
                self._lease.tenant_id,
                self._turn_id,
            )
        return [turn_message(row) for row in rows]


def turn_message(row: asyncpg.Record) -> TurnMessage:
    """Return an inbound row as the turn sees it."""
    origin = Origin(row["origin"])
    return TurnMessage(row["id"], row["text"], row["received_at"], row["media_count"], row["about"] or "", origin)
