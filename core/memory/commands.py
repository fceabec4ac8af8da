"""The word /memory: what is known of a person, in words, without a model."""

from collections.abc import Sequence

from core.memory.access import MemoryAccess, Remembered

MEMORY_COMMAND = "memory"
MAX_SHOWN = 20

NOTHING = "I remember nothing about you yet. Tell me something, such as “remember that I am vegetarian”."


async def answer_memory(memory: MemoryAccess) -> str:
    """List the newest that the person told, each with its number."""
    found = await memory.overview(MAX_SHOWN + 1)
    return NOTHING if not found else listed(found)


def listed(found: Sequence[Remembered]) -> str:
    """List memories for the person, and say what they can do about them."""
    lines = [f"{one.number}. {one.text} ({one.said_at:%Y-%m-%d})" for one in found[:MAX_SHOWN]]
    more = ["There is more; ask me about anything in particular."] if len(found) > MAX_SHOWN else []
    end = "Tell me what is wrong, or what to forget, in your own words."
    return "\n".join(["What I remember:", *lines, *more, end])
