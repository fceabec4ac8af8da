"""Answers that a channel has not accepted for long, and whether the person was notified elsewhere."""

from dataclasses import dataclass
from datetime import timedelta

from core.db.database import Database

DELAYED = timedelta(minutes=10)
"""How long an answer is tried in its conversation before its person is notified elsewhere."""


@dataclass(frozen=True, slots=True)
class Delayed:
    """A delayed answer; `identity_id` and `channel` are its destination."""

    tenant_id: str
    outbound_id: str
    identity_id: str
    channel: str


@dataclass(frozen=True, slots=True)
class DelayedAnswers:
    """Find delayed answers, and record who was notified. Calls may be repeated."""

    database: Database

    async def find(self, limit: int = 200) -> list[Delayed]:
        """Return the answers whose person is still to be notified, the oldest first."""
        delayed: list[Delayed] = []
        for row in await self.database.rows("select * from find_delayed($1,$2)", DELAYED, limit):
            tenant_id, outbound_id = row["tenant_id"], row["outbound_id"]
            conversation = await self.database.tenant_row(
                tenant_id,
                "select c.identity_id, c.channel from outbound o join conversations c on c.tenant_id = o.tenant_id"
                " and c.id = o.conversation_id where o.tenant_id = $1 and o.id = $2",
                outbound_id,
            )
            if conversation is not None:
                delayed.append(Delayed(tenant_id, outbound_id, conversation["identity_id"], conversation["channel"]))
        return delayed

    async def note_told(self, delayed: Delayed) -> None:
        """Record that the person was notified of this answer."""
        await self.database.tenant_rows(
            delayed.tenant_id,
            "update outbound set delay_told_at = clock_timestamp() where tenant_id = $1 and id = $2",
            delayed.outbound_id,
        )
