"""How far a person's memory has come: the newest number, and an epoch that rises whenever something is removed.

An index of an older number catches up; an index of an older epoch is rebuilt.
"""

from core.db.database import Connection


async def lock_memory(connection: Connection, tenant_id: str) -> None:
    """Lock a person's memory until the transaction ends."""
    await connection.execute("select lock_memory($1)", tenant_id)


async def raise_epoch(connection: Connection, tenant_id: str) -> None:
    """Make every worker rebuild every index of a person."""
    await connection.execute("update memory_versions set epoch = epoch + 1 where tenant_id = $1", tenant_id)
