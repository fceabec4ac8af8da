"""Merging the memories when two people are merged: they are renumbered, and every index is rebuilt."""

from typing import override

from core.db.database import Connection
from core.people.merge import MergeHook, Parting


class MemoryMerge(MergeHook):
    """Keep all memories of both."""

    @override
    async def before(self, connection: Connection, kept: str, gone: str) -> None:
        # Below zero no number is taken: the rows can move, and `after` gives them their new numbers.
        await connection.execute("update memories set number = -number - 1 where tenant_id = $1", gone)
        for table in ("memory_versions", "memory_terms", "memory_members", "memory_sessions"):
            await connection.execute(f"delete from {table} where tenant_id = $1", gone)  # noqa: S608 - our own names

    @override
    async def after(self, connection: Connection, kept: str, gone: str) -> None:
        await connection.execute("insert into memory_versions (tenant_id) values ($1) on conflict do nothing", kept)
        await connection.execute(
            "update memories m set number = v.version + n.rank from memory_versions v,"
            " (select id, row_number() over (order by said_at, number desc) as rank from memories"
            "  where tenant_id = $1 and number < 0) n where v.tenant_id = $1 and m.tenant_id = $1 and m.id = n.id",
            kept,
        )
        await connection.execute(
            "update memory_versions v set epoch = v.epoch + 1,"
            " version = greatest(v.version, (select max(number) from memories where tenant_id = $1))"
            " where v.tenant_id = $1",
            kept,
        )

    @override
    async def after_parting(self, connection: Connection, parting: Parting) -> None:
        # No index of either may hold a word of the other's memories. A person who comes back had epochs before, of
        # which a worker may have an index still: the time is later than any of them.
        for tenant_id in (parting.other_id, parting.tenant_id):
            await connection.execute("select set_config('onevalet.tenant', $1, true)", tenant_id)
            await connection.execute("delete from memory_terms where tenant_id = $1", tenant_id)
            await connection.execute(
                "insert into memory_versions as v (tenant_id, version, epoch)"
                " select $1, coalesce(max(number), 0), extract(epoch from clock_timestamp())::bigint"
                " from memories where tenant_id = $1"
                " on conflict (tenant_id) do update set epoch = v.epoch + 1",
                tenant_id,
            )
