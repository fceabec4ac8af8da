"""The order of the retrievers' hits, and which memories are recalled."""

from datetime import datetime, timedelta

import pytest

from abilities.memory.momex import Momex
from abilities.memory.recall.fusion import certainty, fuse
from abilities.memory.recall.question import Question, read_question
from abilities.memory.types import PERSON, Hit, Kind, Memory, RetrieverKind, RetrieverReport
from tests.abilities.memory.harness import NOW, caught_up, told


def memory(number: int, text: str, *, slot: str = "", days: float = 10, ended: float | None = None) -> Memory:
    """Make a memory, said and ended some days ago."""
    valid_to = None if ended is None else ago(ended)
    return Memory(f"m{number}", number, "", text, PERSON, Kind.TOLD, ago(days), ago(days), valid_to, slot=slot)


def ago(days: float) -> datetime:
    """Return the moment so many days before now."""
    return NOW - timedelta(days=days)


def order(question: Question, memories: list[Memory], *strengths: float) -> list[str]:
    """Fuse what one retriever found in this order; return the ids."""
    hits = tuple(Hit(memory.id, 1.0, strength) for memory, strength in zip(memories, strengths, strict=True))
    report = RetrieverReport(RetrieverKind.STRUCTURED, hits)
    return [hit.memory.id for hit in fuse({memory.id: memory for memory in memories}, [report], question, sure=True)]


def test_a_memory_in_the_requested_slot_ranks_first_without_other_evidence() -> None:
    question = read_question("Where do I live?", NOW)
    other, home = memory(1, "I live on coffee these days, honestly."), memory(2, "Based in Graz.", slot="my home")
    assert order(question, [other, home], 0.9, 0.1) == ["m2", "m1"]
    assert order(question, [other], 0.1) == []


def test_two_weak_legs_are_surer_than_either_and_never_more_than_sure() -> None:
    half = Hit("m1", 1.0, 0.5)
    assert certainty([half]) == 0.5
    assert certainty([half, half]) == 0.75
    assert certainty([half, Hit("m1", 1.0, 1.0)]) == 1.0


def test_where_one_lived_then_is_what_held_then_whenever_it_was_told() -> None:
    old = memory(1, "I live in Graz.", slot="my home", days=400, ended=60)
    new = memory(2, "I moved to Cork.", slot="my home", days=60)
    assert order(read_question("Where did I live last winter?", NOW), [new, old], 1, 1) == ["m1", "m2"]
    assert order(read_question("Where do I live?", NOW), [new, old], 1, 1) == ["m2"]
    assert order(read_question("Where did I live before?", NOW), [new, old], 1, 1)[0] == "m1"
    assert order(read_question("Where did I live last week?", NOW), [new, old], 1, 1) == ["m2"]


@pytest.mark.xdist_group("typeagent")
async def test_two_hops_end_at_what_is_said_of_the_one_who_is_meant(indexed: Momex) -> None:
    for text in (
        "My sister is called Greta.",
        "Kofi is a baker now.",
        "Greta is a vet now.",
        "I trained as a cook.",
        "Greta sent me a long letter.",
    ):
        await indexed.add_now("ann", [told(text, days_ago=20)])
    await caught_up(indexed)
    hits = (await indexed.search("ann", "What is my sister's profession?")).found
    assert hits[0].memory.text == "Greta is a vet now."
    assert (await indexed.search("ann", "Who is my sister?")).found[0].memory.text == "My sister is called Greta."


@pytest.mark.xdist_group("typeagent")
async def test_where_one_lived_then_is_found_over_the_index_too(indexed: Momex) -> None:
    await indexed.add_now("ann", [told("I live in Graz.", days_ago=400)])
    await indexed.add_now("ann", [told("I moved to Cork.", days_ago=60)])
    await caught_up(indexed)
    hits = (await indexed.search("ann", "Where did I live last winter?")).found
    assert [hit.memory.text for hit in hits[:1]] == ["I live in Graz."]
