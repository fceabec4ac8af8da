"""Structured indexes: they need no embedder, write back nothing that was forgotten, and go through a bounded number."""

import pytest

from core.database import Database
from core.memory import structured
from core.memory.momex import Momex
from core.memory.structured import StructuredQuery
from tests.core.memory.house import caught_up, told
from tests.core.memory.test_recall import Broken

pytestmark = pytest.mark.xdist_group("typeagent")


async def found(momex: Momex, *terms: str) -> list[str]:
    """Ask Ann's index for terms; gives the texts that it found."""
    assert momex.indexes is not None
    hits = await momex.indexes.search("ann", StructuredQuery(terms), 9)
    memories = await momex.store.memories("ann", [one.memory_id for one in hits])
    return [memories[one.memory_id].text for one in hits]


async def test_an_index_is_made_while_nobody_can_embed(indexed: Momex, monkeypatch: pytest.MonkeyPatch) -> None:
    await indexed.add_now("ann", [told("I moor the boat in Whitby.")])
    async with indexed.store.database.tenant("ann") as connection:
        await connection.execute("delete from memory_terms where tenant_id = 'ann'")
    monkeypatch.setattr(indexed.embedder, "_embedder", Broken())
    indexed.embedder.clear()
    assert await caught_up(indexed) == {"ann": 1}
    assert await found(indexed, "whitby") == ["I moor the boat in Whitby."]


async def test_what_was_forgotten_meanwhile_is_not_written_back_by_an_index(momex: Momex, database: Database) -> None:
    await momex.add_now("ann", [told("I moor the boat in Whitby.")])
    epoch = (await momex.store.version("ann")).epoch
    [memory] = await momex.store.saying("ann", "Whitby")
    asked = await momex.forgetter.ask("ann", [memory], "", "Whitby", momex.clock.now())
    await momex.forgetter.confirm("ann", asked.id, momex.clock.now())
    vectors = {"whitby": (await momex.embedder.embed(["whitby"]))[0]}
    await momex.store.keep_terms("ann", momex.embedder.name, vectors, epoch)
    assert await momex.store.terms("ann", momex.embedder.name, ["whitby"]) == {}
    await momex.store.keep_terms("ann", momex.embedder.name, vectors, epoch + 1)
    assert list(await momex.store.terms("ann", momex.embedder.name, ["whitby"])) == ["whitby"]


async def test_a_search_goes_through_the_rarest_terms_first_and_leaves_the_commonest_out(
    indexed: Momex, monkeypatch: pytest.MonkeyPatch
) -> None:
    await indexed.add_now("ann", [told(f"The boat number {name} is blue.") for name in ("eins", "zwei", "drei")])
    await caught_up(indexed)
    assert len(await found(indexed, "boat", "zwei")) == 3
    monkeypatch.setattr(structured, "MOST_REFERENCES", 2)
    assert await found(indexed, "boat", "zwei") == ["The boat number zwei is blue."]
    assert len(await found(indexed, "boat")) == 3, "where there is nothing rarer, the commonest is looked for"
