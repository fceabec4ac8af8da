"""The command /memory: a person's memories, without a model."""

from collections.abc import Sequence

from core.language.catalogue import gettext, gettext_noop
from core.language.times import day_in_words
from core.messaging.chat_words import CommandAnswer
from core.tools.memory_access import MemoryAccess, Remembered
from core.turns.words.asked import Asked

MAX_SHOWN = 20

NOTHING = gettext_noop("I remember nothing about you yet. Tell me something, such as “remember that I am vegetarian”.")


async def what_is_remembered(asked: Asked) -> CommandAnswer | None:
    """List the newest memories; return None if there are none at all."""
    if (recall := asked.rooms.orchestrator.momex) is None:
        return None
    return CommandAnswer(await answer_memory(recall.for_tenant(asked.request.tenant.id, asked.turn.turn_id)))


async def answer_memory(memory: MemoryAccess) -> str:
    """Return the newest memories of the person's own statements, as text."""
    memories = await memory.overview(MAX_SHOWN + 1)
    return listed(memories) if memories else gettext(NOTHING)


def listed(memories: Sequence[Remembered]) -> str:
    """Return memories as a list for the person, with the ways to change them."""
    lines = [
        gettext("{number}. {text} ({day})", number=memory.number, text=memory.text, day=day_in_words(memory.said_at))
        for memory in memories[:MAX_SHOWN]
    ]
    after = [gettext("Tell me what is wrong, or what to forget, in your own words.")]
    if len(memories) > MAX_SHOWN:
        after.insert(0, gettext("There is more; ask me about anything in particular."))
    # A line that follows a list at once belongs to its last item, in Markdown.
    return "\n\n".join([gettext("What I remember:"), "\n".join(lines), "\n".join(after)])
