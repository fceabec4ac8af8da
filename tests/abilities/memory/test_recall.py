"""Recall: three retrievers fused, in budget, with validity; it does with two or one and says so."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from abilities.memory.momex import Momex
from abilities.memory.recall.search import Retriever, Scope
from abilities.memory.types import RetrieverKind, Vector
from core.errors import ModelUnavailable
from tests.abilities.memory.harness import WordEmbedder, caught_up, told
from tests.eventually import never

LIFE = [
    "My sister Greta lives in Porto.",
    "I play the cello in a small orchestra.",
    "The dentist is called Doctor Okafor.",
    "We went to Norway in March.",
    "I am allergic to walnuts.",
]


class Broken(WordEmbedder):
    """An embedder whose provider is away."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Fail."""
        raise ModelUnavailable("away")


class Slow(WordEmbedder):
    """An embedder that takes its time."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Wait for longer than anybody waits."""
        await never()
        return []


async def lived(momex: Momex) -> Retriever:
    """Give a person five memories and return the retriever."""
    await momex.add_now("ann", [told(text, days_ago=20) for text in LIFE])
    return momex.retriever


@pytest.mark.xdist_group("typeagent")
async def test_three_retrievers_agree_and_the_report_lists_the_hits_of_each(indexed: Momex) -> None:
    await lived(indexed)
    await caught_up(indexed)
    recall = await indexed.search("ann", "Which instrument do I play, the cello?")
    assert recall.found[0].memory.text == LIFE[1]
    assert set(recall.found[0].found_by) == set(RetrieverKind)
    assert {report.kind: report.missed for report in recall.reports} == dict.fromkeys(RetrieverKind)
    assert all(recall.found[0].memory.id in {hit.memory_id for hit in report.hits} for report in recall.reports)
    assert (await indexed.search("ann", "Who repairs my roof?")).found == ()


@pytest.mark.xdist_group("typeagent")
async def test_the_structured_index_answers_for_a_prefix_and_no_sibling(indexed: Momex) -> None:
    for name in ("work:eng", "work:eng:alice", "work:english", "garden"):
        await indexed.add_now("ann", [told(f"The {name} meeting plan is blue.")], collection=name)
    await caught_up(indexed)
    structured = replace(indexed.retriever, kinds=frozenset({RetrieverKind.STRUCTURED}))

    async def found(*prefixes: str) -> list[str]:
        scope = Scope("ann", prefixes)
        recall = await structured.search(scope, "Which meeting plan is blue?", indexed.clock.now(), sure=False)
        return sorted(hit.memory.collection for hit in recall.found)

    assert await found() == ["garden", "work:eng", "work:eng:alice", "work:english"]
    assert await found("work:eng") == ["work:eng", "work:eng:alice"]
    assert await found("work:eng", "gar") == ["work:eng", "work:eng:alice"]


async def test_a_leg_that_fails_or_is_slow_is_left_out_and_named(momex: Momex) -> None:
    searcher = await lived(momex)
    for embedder, why in ((Broken(), "ModelUnavailable"), (Slow(), "slow")):
        missed = {RetrieverKind.VECTOR: why, RetrieverKind.STRUCTURED: "off"}
        config = replace(searcher.config, patience=0.3)
        degraded = replace(searcher, embedder=embedder, config=config)
        recall = await degraded.search(Scope("ann"), "what am I allergic to, walnuts?", momex.clock.now())
        assert [hit.memory.text for hit in recall.found] == [LIFE[4]]
        assert {report.kind: report.missed for report in recall.degraded} == missed
        assert recall.took_ms < 15_000


async def test_recalled_text_stays_within_its_tokens_and_names_source_and_date(momex: Momex) -> None:
    await momex.add_now("ann", [told(f"My plant number {n} is a tall green fern in the hall.") for n in range(40)])
    small = replace(momex.retriever, config=replace(momex.config, token_budget=120, max_recalled=40))
    recall = await small.search(Scope("ann"), "the tall green fern plant in the hall", momex.clock.now())
    assert 1 < len(recall.found) < 8
    assert all("On 2026-06-15 the person said: " in line for line in recall.lines())


async def test_the_time_that_is_named_and_what_was_before_count(momex: Momex) -> None:
    await momex.add_now("ann", [told("I live in Berlin.", days_ago=400)])
    await momex.add_now("ann", [told("I had a cold and stayed at home.", days_ago=200)])
    await momex.add_now("ann", [told("I moved to Lisbon.", days_ago=100), told("I had a cold again.", days_ago=8)])
    before = await momex.search("ann", "Where did I live before Lisbon?")
    assert any("no longer so since" in line and "Berlin" in line for line in before.lines())
    assert not any("Berlin" in line for line in (await momex.search("ann", "Do I live in Berlin or Lisbon?")).lines())
    recent = await momex.search("ann", "When did I have a cold last week?")
    assert recent.found[0].memory.text == "I had a cold again."
