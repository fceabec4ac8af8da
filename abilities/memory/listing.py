"""`memory list`: the memories of a person, for the operator; listing changes nothing."""

from abilities.memory.store.memories import MemoryStore
from abilities.memory.types import Memory
from core.ids import make_id
from core.json_types import JsonObject
from onevalet.cli.runner import say, say_json
from onevalet.cli.session import one_tenant, open_database
from onevalet.settings import Settings

SHOWN = 1_000
"""Memories that are listed at most."""


async def print_memories(settings: Settings, tenant: str, *, ended: bool, as_json: bool) -> None:
    """List a person's memories, the newest first; `ended` includes those that hold no longer."""
    async with open_database(settings, "memory") as database:
        tenant = await one_tenant(database, tenant)
        memories = await MemoryStore(database, make_id).newest(tenant, SHOWN, closed=ended)
    if as_json:
        say_json([_as_json(memory) for memory in memories])
        return
    for memory in memories:
        until = f"  until {memory.valid_to:%Y-%m-%d}" if memory.valid_to else ""
        say(f"{memory.number:>4}  {memory.said_at:%Y-%m-%d}  {memory.kind.value:<8}  {memory.text}{until}")
    if not memories:
        say(f"{tenant}: nothing is remembered.")


def _as_json(memory: Memory) -> JsonObject:
    return {
        "number": memory.number,
        "text": memory.text,
        "kind": memory.kind.value,
        "collection": memory.collection,
        "said_at": memory.said_at.isoformat(),
        "until": memory.valid_to.isoformat() if memory.valid_to else None,
        "turn_id": memory.turn_id,
    }
