"""A change of embedder: maintenance embeds old memories again in small batches, and their vectors find them."""

from collections.abc import Sequence

import pytest

from abilities.memory import jobs as work
from abilities.memory.config import MomexConfig
from abilities.memory.long_term import MomexParts
from abilities.memory.momex import Momex
from abilities.memory.runner import EMBEDDED_EVERY, MemoryUpkeep
from abilities.memory.store.scans import Wanted, find_memories
from abilities.memory.types import Vector
from core.db.database import Database
from core.errors import ModelUnavailable
from tests.abilities.memory.harness import NOW, WordEmbedder, make_person, told
from tests.clocks import StandingClock

BOATS = ("eins", "zwei", "drei", "vier", "elf")


class OtherEmbedder(WordEmbedder):
    """Words in other directions, under another name; away until told otherwise."""

    name = "other words"
    away = True

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors backwards."""
        if self.away:
            raise ModelUnavailable("away")
        return [tuple(reversed(vector)) for vector in await super().embed(texts)]


async def test_after_an_embedder_change_old_memories_are_embedded_in_batches(
    momex: Momex, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "BATCH", 2)
    await make_person(database, "bob")
    await momex.add_now("ann", [told(f"I saw boat {name} on the lake.") for name in BOATS])
    await momex.add_now("bob", [told("I like tulips.")])
    embedder = OtherEmbedder()
    config = MomexConfig(structured=False, patience=5.0)
    changed = Momex(config=config, database=database, parts=MomexParts(embedder=embedder))
    clock = StandingClock(NOW)
    upkeep = MemoryUpkeep(changed.work, clock)
    await upkeep.once()
    assert await left(changed) == {"ann": 5, "bob": 1}, "the provider is away, and nothing was lost"
    embedder.away = False
    for expected in ({"ann": 3, "bob": 0}, {"ann": 1, "bob": 0}, {"ann": 0, "bob": 0}):
        clock.at += EMBEDDED_EVERY
        await upkeep.once()
        assert await left(changed) == expected
    async with database.tenant("ann") as connection:
        names = await connection.fetch("select distinct embedder from memory_vectors where tenant_id = 'ann'")
    assert [row["embedder"] for row in names] == ["other words"]
    [vector] = await embedder.embed(["I saw boat drei on the lake."])
    [found] = await find_memories(database, "ann", Wanted(1, vector=vector, embedder=embedder.name))
    near = found.by_vector
    memories = await changed.store.memories("ann", [near[0][0]])
    assert [memory.text for memory in memories.values()] == ["I saw boat drei on the lake."]


async def left(momex: Momex) -> dict[str, int]:
    """Count the memories without a vector of the embedder in use."""
    name = momex.embedder.name
    return {who: len(await momex.store.vectors.missing(who, name, 100)) for who in ("ann", "bob")}
