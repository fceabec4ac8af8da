"""A program's `query`: nobody waits for it in a chat, so it has time of its own."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from abilities.memory.momex import Momex
from abilities.memory.types import RetrieverKind, Vector
from tests.abilities.memory.harness import WordEmbedder, told
from tests.eventually import eventually

FACT = "My sister Greta lives in Porto."


class Held(WordEmbedder):
    """An embedder that answers once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may = asyncio.Event()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text, once it may."""
        self.calls += 1
        await self.may.wait()
        return [vector for text in texts for vector in await WordEmbedder().embed([text])]


def only(momex: Momex, kind: RetrieverKind, patience: float = 0.05, **parts: object) -> None:
    """Leave a memory one retriever, and a turn next to no time."""
    config = replace(momex.config, patience=patience)
    retriever = replace(momex.retriever, kinds=frozenset({kind}), config=config, **parts)  # type: ignore[arg-type]
    momex.long_term = replace(momex.long_term, retriever=retriever)


async def test_a_query_waits_for_what_a_turn_leaves_out(momex: Momex) -> None:
    await momex.add_now("ann", [told(FACT)])
    embedder = Held()
    only(momex, RetrieverKind.VECTOR, embedder=embedder)
    asking = asyncio.create_task(momex.query("ann", "Where does Greta live?"))
    await eventually(lambda: embedder.calls, "the question is embedded")
    [left_out] = (await momex.search("ann", "Where does Greta live?")).reports
    assert left_out.missed == "slow"
    embedder.may.set()
    assert (await asking).text == f"{FACT} [1]"


async def test_a_query_ends_when_its_own_time_is_over(momex: Momex) -> None:
    await momex.add_now("ann", [told(FACT)])
    only(momex, RetrieverKind.VECTOR, 600, embedder=Held())
    momex.config = replace(momex.config, query_patience=0.05)
    assert (await momex.query("ann", "Where does Greta live?")).text == ""


@pytest.mark.xdist_group("typeagent")
async def test_a_query_waits_for_an_index_that_is_not_built_yet(indexed: Momex) -> None:
    await indexed.add_now("ann", [told(FACT)])
    only(indexed, RetrieverKind.STRUCTURED)
    indexed.config = replace(indexed.config, query_patience=60)
    [left_out] = (await indexed.search("ann", "Where does Greta live?")).reports
    assert left_out.missed == "catching up"
    assert (await indexed.query("ann", "Where does Greta live?")).text == f"{FACT} [1]"
