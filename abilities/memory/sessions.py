"""Short-term memory for applications: sessions of messages, which expire. Nothing is cached, so all workers agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.db.database import Database
from core.llm.types import ChatMessage


@dataclass(frozen=True, slots=True)
class Sessions:
    """Everybody's sessions. Each message extends its session's life; an expired session is as if it had never begun."""

    database: Database
    life: timedelta = timedelta(days=7)
    max_messages: int = 200
    """The newest messages that a session keeps."""

    async def get(self, tenant_id: str, session: str, now: datetime, limit: int | None = None) -> list[ChatMessage]:
        """Return a session's newest messages, the oldest first."""
        rows = await self.database.tenant_rows(
            tenant_id,
            "select m.message from memory_messages m join memory_sessions s"
            " on s.tenant_id = m.tenant_id and s.id = m.session where m.tenant_id = $1 and s.id = $2"
            " and s.expires_at > $3 order by m.position desc limit $4",
            session,
            now,
            self.max_messages if limit is None else limit,
        )
        return [ChatMessage.from_json(row["message"]) for row in reversed(rows)]

    async def save(self, tenant_id: str, session: str, messages: Sequence[ChatMessage], now: datetime) -> None:
        """Add messages to a session, which is created if need be."""
        async with self.database.tenant(tenant_id) as connection:
            await connection.execute(
                "delete from memory_sessions where tenant_id = $1 and id = $2 and expires_at <= $3",
                tenant_id,
                session,
                now,
            )
            last = await connection.fetchval(
                "insert into memory_sessions as s (tenant_id, id, last_position, expires_at) values ($1, $2, $3, $4)"
                " on conflict (tenant_id, id) do update"
                " set last_position = s.last_position + $3, expires_at = greatest(s.expires_at, $4)"
                " returning last_position",
                tenant_id,
                session,
                len(messages),
                now + self.life,
            )
            await connection.executemany(
                "insert into memory_messages (tenant_id, session, position, message) values ($1, $2, $3, $4)",
                [
                    (tenant_id, session, position, message.to_json())
                    for position, message in enumerate(messages, last - len(messages) + 1)
                ],
            )
            await connection.execute(
                "delete from memory_messages where tenant_id = $1 and session = $2 and position <= $3",
                tenant_id,
                session,
                last - self.max_messages,
            )
