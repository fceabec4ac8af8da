"""Merging the muted categories when two people are merged."""

from typing import override

from core.db.database import Connection
from core.people.merge import MergeHook


class MutedMerge(MergeHook):
    """Mute the categories that either of them had muted."""

    @override
    async def before(self, connection: Connection, kept: str, gone: str) -> None:
        muted = await connection.fetchval("select muted from tenants where tenant_id = $1", gone)
        if not muted:
            return
        await connection.execute("select set_config('onevalet.tenant', $1, true)", kept)
        await connection.execute(
            "update tenants set muted = array(select distinct kind from unnest(muted || $2) kind order by kind)"
            " where tenant_id = $1",
            kept,
            muted,
        )
        await connection.execute("select set_config('onevalet.tenant', $1, true)", gone)
