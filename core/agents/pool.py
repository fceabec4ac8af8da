"""The pool as people and operators see it: list, pause, resume, cancel; and the end of what waits too long."""

from collections.abc import Sequence
from datetime import datetime

from core.agents.pool_entry import PoolEntry
from core.db.database import Database
from core.queue.wakeups import Wakeups

_MAX_AT_ONCE = 100


class Pool:
    """The agents that wait, of all people. What a turn puts in is committed with the turn (`core.turns.store`)."""

    def __init__(self, database: Database, wakeups: Wakeups) -> None:
        self._database = database
        self._wakeups = wakeups

    async def list(self, tenant_id: str) -> Sequence[PoolEntry]:
        """Return the agents that wait for a person, those that wait longest first."""
        async with self._database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                "select * from pool_entries where tenant_id = $1 and status not in ('CANCELLED', 'COMPLETED')"
                " order by created_at, agent_id",
                tenant_id,
            )
        return [PoolEntry.from_row(dict(row)) for row in rows]

    async def pause(self, tenant_id: str, agent_id: str) -> bool:
        """Let an agent that waits for an answer take none; False when it is not one."""
        return await self._change(tenant_id, agent_id, "pause")

    async def resume(self, tenant_id: str, agent_id: str) -> bool:
        """Let a paused agent ask again; False when it is not one."""
        return await self._change(tenant_id, agent_id, "resume")

    async def cancel(self, tenant_id: str, agent_id: str) -> bool:
        """Drop an agent; its turn goes on, and the model is told. False when it waits no more."""
        return await self._change(tenant_id, agent_id, "cancel")

    async def expire(self, now: datetime) -> int:
        """End what has waited too long, of all people; their turns go on and say so. Return how many."""
        rows = await self._database.rows("select * from expire_pool($1,$2)", now, _MAX_AT_ONCE)
        for row in rows:
            self._wakeups.wake_turn(row["lane_id"])
        return len(rows)

    async def _change(self, tenant_id: str, agent_id: str, change: str) -> bool:
        rows = await self._database.rows("select * from change_pool_entry($1,$2,$3)", tenant_id, agent_id, change)
        if lane := rows[0]["lane_id"]:
            self._wakeups.wake_turn(lane)
        return bool(rows[0]["changed"])
