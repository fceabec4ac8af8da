"""When two people become one, their memories do: numbered anew, and indexed anew everywhere."""

from core.db.database import Connection
from core.people.merge import MergeHook, Parting


class MemoryMerge(MergeHook):
    """Keep all memories of both. What cannot be the same twice is made fit before, and put in order after."""

    async def before(self, connection: Connection, kept: str, gone: str) -> None:
        """Number below zero, so that no two numbers meet; leave out what is worked out anew when it is needed."""
        await connection.execute("update memories set number = -number - 1 where tenant_id = $1", gone)
        await connection.execute("delete from memory_versions where tenant_id = $1", gone)
        await connection.execute("delete from memory_terms where tenant_id = $1", gone)
        await connection.execute("delete from memory_members where tenant_id = $1", gone)
        await connection.execute("delete from memory_sessions where tenant_id = $1", gone)

    async def after(self, connection: Connection, kept: str, gone: str) -> None:
        """Give the moved ones the next numbers, and have every index made anew."""
        await connection.execute("insert into memory_versions (tenant_id) values ($1) on conflict do nothing", kept)
        await connection.execute(
            "update memories m set number = v.version + n.place from memory_versions v,"
            " (select id, row_number() over (order by said_at, number desc) as place from memories"
            "  where tenant_id = $1 and number < 0) n where v.tenant_id = $1 and m.tenant_id = $1 and m.id = n.id",
            kept,
        )
        await connection.execute(
            "update memory_versions v set epoch = v.epoch + 1,"
            " version = greatest(v.version, (select max(number) from memories where tenant_id = $1))"
            " where v.tenant_id = $1",
            kept,
        )

    async def after_parting(self, connection: Connection, parting: Parting) -> None:
        """Have every index of both made anew: none may hold a word of what went."""
        for tenant_id in (parting.other_id, parting.tenant_id):
            await connection.execute("select set_config('onevalet.tenant', $1, true)", tenant_id)
            await connection.execute("delete from memory_terms where tenant_id = $1", tenant_id)
            await connection.execute(
                "insert into memory_versions as v (tenant_id, version, epoch)"
                " select $1, coalesce(max(number), 0), 1 from memories where tenant_id = $1"
                " on conflict (tenant_id) do update set epoch = v.epoch + 1",
                tenant_id,
            )
