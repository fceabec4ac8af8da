"""The assistant's words about a fact are over when the fact is: they are no other source of it."""

from collections.abc import Mapping
from dataclasses import replace

from abilities.memory.extraction.rules_self import names_in
from abilities.memory.extraction.words import words_of
from abilities.memory.store.scans import Found
from abilities.memory.types import ASSISTANT, Memory


def with_ends(found: Found) -> Mapping[str, Memory]:
    """Return the memories that were found, in which the assistant's repetitions of ended facts have ended, too."""
    over: dict[str, Memory] = {}
    for memory in found.memories.values():
        if memory.speaker != ASSISTANT or memory.valid_to is not None:
            continue
        facts = (fact for fact in found.ended if _repeats(memory, fact, found.after.get(fact.superseded_by or "")))
        if (fact := next(facts, None)) is not None:
            over[memory.id] = replace(memory, valid_to=fact.valid_to)
    return {**found.memories, **over}


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
