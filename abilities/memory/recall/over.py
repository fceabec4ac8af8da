"""The assistant's words about a fact are over when the fact is: they are no other source of it."""

from collections.abc import Mapping
from dataclasses import replace

from abilities.memory.extraction.rules_self import names_in
from abilities.memory.extraction.words import words_of
from abilities.memory.store.memories import MemoryStore
from abilities.memory.types import ASSISTANT, Memory

_MOST = 200
"""Facts that are over, the newest, with which the assistant's words are compared."""


async def with_ends(store: MemoryStore, tenant_id: str, memories: Mapping[str, Memory]) -> dict[str, Memory]:
    """Return memories, in which the assistant's repetitions of ended facts have ended, too."""
    repeated = [memory for memory in memories.values() if memory.speaker == ASSISTANT and memory.valid_to is None]
    ended = await store.ended(tenant_id, _MOST) if repeated else []
    if not ended:
        return dict(memories)
    after = await store.memories(tenant_id, [fact.superseded_by for fact in ended if fact.superseded_by])
    over: dict[str, Memory] = {}
    for memory in repeated:
        fact = next((fact for fact in ended if _repeats(memory, fact, after.get(fact.superseded_by or ""))), None)
        if fact is not None:
            over[memory.id] = replace(memory, valid_to=fact.valid_to)
    return {**memories, **over}


def _repeats(memory: Memory, fact: Memory, after: Memory | None) -> bool:
    """Return whether words of the assistant's answer a fact, or name later a thing that only that fact names."""
    if memory.turn_id is not None and memory.turn_id == fact.turn_id:
        return True
    if fact.valid_to is None or not fact.said_at <= memory.said_at <= fact.valid_to:
        return False
    gone = _names(fact.text) - (_names(after.text) if after is not None else set())
    return not gone.isdisjoint(words_of(memory.text))


def _names(text: str) -> set[str]:
    return {word for name in names_in(text) for word in words_of(name)}
