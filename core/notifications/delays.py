"""Answers that their channel has not taken for long: whose they are, and whether the person was told elsewhere."""

from dataclasses import dataclass
from datetime import timedelta

from core.db.database import Database

DELAYED = timedelta(minutes=10)
"""How long an answer is tried in its conversation before its person is told of it elsewhere."""


@dataclass(frozen=True, slots=True)
class Delayed:
    """An answer that waits; `identity_id` and `channel` say where it goes."""

    tenant_id: str
    outbound_id: str
    identity_id: str
    channel: str


@dataclass(frozen=True, slots=True)
class DelayedAnswers:
    """Find them, and note who was told. Calls may be repeated."""

    database: Database

    async def find(self, limit: int = 200) -> list[Delayed]:
        """Find the answers whose person is still to be told, the oldest first."""
        found: list[Delayed] = []
        for row in await self.database.rows("select * from find_delayed($1,$2)", DELAYED, limit):
            tenant_id, outbound_id = row["tenant_id"], row["outbound_id"]
            async with self.database.tenant(tenant_id) as connection:
                where = await connection.fetchrow(
                    "select c.identity_id, c.channel from outbound o join conversations c on c.tenant_id = o.tenant_id"
                    " and c.id = o.conversation_id where o.tenant_id = $1 and o.id = $2",
                    tenant_id,
                    outbound_id,
                )
            if where is not None:
                found.append(Delayed(tenant_id, outbound_id, where["identity_id"], where["channel"]))
        return found

    async def note_told(self, delayed: Delayed) -> None:
        """Note that the person was told of this one."""
        async with self.database.tenant(delayed.tenant_id) as connection:
            await connection.execute(
                "update outbound set delay_told_at = clock_timestamp() where tenant_id = $1 and id = $2",
                delayed.tenant_id,
                delayed.outbound_id,
            )
