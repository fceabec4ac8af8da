"""The command /memory: what is known of a person, without a model."""

from collections.abc import Sequence

from core.memory.access import MemoryAccess, Remembered

MEMORY_COMMAND = "memory"
MAX_SHOWN = 20

NOTHING = "I remember nothing about you yet. Tell me something, such as “remember that I am vegetarian”."


async def answer_memory(memory: MemoryAccess) -> str:
    """Return the newest memories that the person told, as text."""
    memories = await memory.overview(MAX_SHOWN + 1)
    return listed(memories) if memories else NOTHING


def listed(memories: Sequence[Remembered]) -> str:
    """Return memories as a list for the person, with what they can do about them."""
    lines = [f"{memory.number}. {memory.text} ({memory.said_at:%Y-%m-%d})" for memory in memories[:MAX_SHOWN]]
    more = ["There is more; ask me about anything in particular."] if len(memories) > MAX_SHOWN else []
    end = "Tell me what is wrong, or what to forget, in your own words."
    return "\n".join(["What I remember:", *lines, *more, end])
