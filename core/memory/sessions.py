"""Short-term memory for applications: sessions of messages, several at once, each with an end. No cache: no worker
can be wrong about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.db.database import Database
from core.llm.types import ChatMessage


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of all people. A session's life begins anew with each message; an ended one is as if never begun."""

    database: Database
    life: timedelta = timedelta(days=7)
    most: int = 200
    """Messages that a session keeps, the newest."""

    async def get(self, tenant_id: str, session: str, now: datetime, most: int | None = None) -> list[ChatMessage]:
        """Return a session's newest messages, the oldest first."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                "select m.message from memory_messages m join memory_sessions s"
                " on s.tenant_id = m.tenant_id and s.id = m.session where m.tenant_id = $1 and s.id = $2"
                " and s.expires_at > $3 order by m.position desc limit $4",
                tenant_id, session, now, self.most if most is None else most,
            )  # fmt: skip
        return [ChatMessage.from_json(row["message"]) for row in reversed(rows)]

    async def save(self, tenant_id: str, session: str, messages: Sequence[ChatMessage], now: datetime) -> None:
        """Add messages to a session, which begins with them if it must."""
        async with self.database.tenant(tenant_id) as connection:
            await connection.execute(
                "delete from memory_sessions where tenant_id = $1 and id = $2 and expires_at <= $3",
                tenant_id, session, now,
            )  # fmt: skip
            last = await connection.fetchval(
                "insert into memory_sessions as s (tenant_id, id, last_position, expires_at) values ($1, $2, $3, $4)"
                " on conflict (tenant_id, id) do update"
                " set last_position = s.last_position + $3, expires_at = greatest(s.expires_at, $4)"
                " returning last_position",
                tenant_id, session, len(messages), now + self.life,
            )  # fmt: skip
            await connection.executemany(
                "insert into memory_messages (tenant_id, session, position, message) values ($1, $2, $3, $4)",
                [
                    (tenant_id, session, last - len(messages) + place, message.to_json())
                    for place, message in enumerate(messages, 1)
                ],
            )
            await connection.execute(
                "delete from memory_messages where tenant_id = $1 and session = $2 and position <= $3",
                tenant_id, session, last - self.most,
            )  # fmt: skip

    async def names(self, tenant_id: str, now: datetime) -> list[str]:
        """Name the sessions that have not ended, the newest first."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                "select id from memory_sessions where tenant_id = $1 and expires_at > $2 order by created_at desc, id",
                tenant_id, now,
            )  # fmt: skip
        return [row["id"] for row in rows]

    async def end(self, tenant_id: str, session: str) -> None:
        """End a session with all its messages."""
        async with self.database.tenant(tenant_id) as connection:
            await connection.execute("delete from memory_sessions where tenant_id = $1 and id = $2", tenant_id, session)
