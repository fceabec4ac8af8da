"""Statements that were stored at once, by rule, and that no model has read yet."""

from abilities.memory.store.memories import UNREAD, select_memories
from abilities.memory.types import Memory
from core.db.database import Database


async def find_unread(database: Database, tenant_id: str, limit: int) -> list[Memory]:
    """Return the oldest statements that a model is still to read."""
    return await select_memories(
        database, tenant_id, f"m.tenant_id = $1 and {UNREAD} order by m.number limit $2", limit
    )


async def find_unread_elsewhere(database: Database, tenant_id: str, turn_id: str | None, limit: int) -> list[Memory]:
    """Return the newest statements that no model has read, but for those of a turn's own conversation."""
    where = (
        f"m.tenant_id = $1 and {UNREAD} and m.valid_to is null and not exists ("
        "  select from turns t join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id"
        "  join history h on h.tenant_id = c.tenant_id and h.conversation_id = c.id and h.session = c.session"
        "  where t.tenant_id = $1 and t.id = $2 and h.turn_id = m.turn_id)"
        " order by m.number desc limit $3"
    )
    return await select_memories(database, tenant_id, where, turn_id, limit)
