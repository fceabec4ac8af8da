"""A person's memories as the console shows them, a page at a time."""

from dataclasses import dataclass

from abilities.memory.store.memories import read_memories
from abilities.memory.types import Memory
from core.db.database import Connection

PAGE = 50


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Memories, the newest first; `before` is the number that the next page begins below, or 0."""

    memories: tuple[Memory, ...]
    before: int


async def list_memories(connection: Connection, tenant_id: str, before: int = 0) -> MemoryPage:
    """Return a page of all memories, also those of others' words, and those that held before."""
    found = await read_memories(
        connection,
        tenant_id,
        "m.tenant_id = $1 and not m.held and m.number < coalesce(nullif($2, 0), 9223372036854775807)"
        " order by m.number desc limit $3",
        before,
        PAGE,
    )
    return MemoryPage(tuple(found), found[-1].number if len(found) == PAGE else 0)
