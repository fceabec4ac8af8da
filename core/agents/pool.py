"""The pool of waiting agents for people and operators: list, pause, resume, cancel; and expiry."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from core.agents.pool_entry import PoolEntry
from core.db.database import Connection, Database
from core.queue.wakeups import Wakeups

_MAX_AT_ONCE = 100
_MAX_READ = 200


class Pool:
    """The waiting agents of all people. A turn commits its own entries (`core.turns.store`)."""

    def __init__(self, database: Database, wakeups: Wakeups) -> None:
        self._database = database
        self._wakeups = wakeups

    async def list(self, tenant_id: str) -> Sequence[PoolEntry]:
        """Return the agents that wait for a person, the longest wait first."""
        rows = await self._database.tenant_rows(
            tenant_id,
            "select * from pool_entries where tenant_id = $1 and status not in ('CANCELLED', 'COMPLETED')"
            " order by created_at, agent_id",
        )
        return [PoolEntry.from_row(dict(row)) for row in rows]

    async def pause(self, tenant_id: str, agent_id: str) -> bool:
        """Pause an agent that waits for an answer. Return False for any other."""
        return await self._change(tenant_id, agent_id, "pause")

    async def resume(self, tenant_id: str, agent_id: str) -> bool:
        """Resume a paused agent, which asks again. Return False for any other."""
        return await self._change(tenant_id, agent_id, "resume")

    async def cancel(self, tenant_id: str, agent_id: str) -> bool:
        """Drop a waiting agent; its turn resumes with that result. Return False if it no longer waits."""
        return await self._change(tenant_id, agent_id, "cancel")

    async def expire(self, now: datetime) -> int:
        """End the expired agents of all people; their turns resume and say so. Return their number."""
        rows = await self._database.rows("select * from expire_pool($1,$2)", now, _MAX_AT_ONCE)
        for row in rows:
            self._wakeups.wake_turn(row["lane_id"])
        return len(rows)

    async def _change(self, tenant_id: str, agent_id: str, change: Literal["pause", "resume", "cancel"]) -> bool:
        rows = await self._database.rows("select * from change_pool_entry($1,$2,$3)", tenant_id, agent_id, change)
        if lane := rows[0]["lane_id"]:
            self._wakeups.wake_turn(lane)
        return bool(rows[0]["changed"])


async def load_pool(connection: Connection, tenant_id: str, turn_id: str) -> tuple[PoolEntry, ...]:
    """Return the agents that wait for this person, and all of this turn's own."""
    rows = await connection.fetch(
        "select * from pool_entries where tenant_id = $1 and (turn_id = $2"
        " or status not in ('CANCELLED', 'COMPLETED'))"
        " order by created_at, agent_id limit $3",
        tenant_id,
        turn_id,
        _MAX_READ,
    )
    return tuple(PoolEntry.from_row(dict(row)) for row in rows)
