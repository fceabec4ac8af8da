"""How far a person's memory has come: the newest number, and an epoch that rises whenever something is removed.

An index of an older number catches up; an index of an older epoch is rebuilt.
"""

from abilities.memory.types import Version
from core.db.database import Connection, Database


async def read_version(database: Database, tenant_id: str) -> Version:
    """Return the version of a person's memory; zero if it is empty."""
    row = await database.tenant_row(tenant_id, "select version, epoch from memory_versions where tenant_id = $1")
    return Version(row["version"], row["epoch"]) if row else Version()


async def lock_memory(connection: Connection, tenant_id: str) -> int:
    """Lock a person's memory until the transaction ends; return its newest number.

    Numbers then rise in the order of commits: an index that has read up to a number has missed nothing before it.
    """
    number = await connection.fetchval(
        "insert into memory_versions as v (tenant_id) values ($1)"
        " on conflict (tenant_id) do update set version = v.version returning version",
        tenant_id,
    )
    return int(number)


async def set_number(connection: Connection, tenant_id: str, number: int) -> None:
    """Store the newest number of a memory that `lock_memory` locked."""
    await connection.execute("update memory_versions set version = $2 where tenant_id = $1", tenant_id, number)


async def raise_epoch(connection: Connection, tenant_id: str) -> None:
    """Make every worker rebuild every index of a person."""
    await connection.execute("update memory_versions set epoch = epoch + 1 where tenant_id = $1", tenant_id)
