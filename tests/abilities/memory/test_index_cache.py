"""Structured indexes: they need no embedder, write back nothing that was forgotten, and go through a bounded number."""

import asyncio
import threading
import time

import pytest

from abilities.memory.index import typeagent_index as structured
from abilities.memory.index.cache import BATCH
from abilities.memory.index.thread import OwnerThread
from abilities.memory.index.typeagent_index import StructuredQuery
from abilities.memory.momex import Momex
from core.db.database import Database
from tests.abilities.memory.harness import caught_up, told
from tests.abilities.memory.test_recall import Broken
from tests.eventually import eventually
from tests.patience import PATIENCE

pytestmark = pytest.mark.xdist_group("typeagent")


async def found(momex: Momex, *terms: str) -> list[str]:
    """Ask Ann's index for terms; return the texts that it found."""
    assert momex.indexes is not None
    hits = await momex.indexes.search("ann", StructuredQuery(terms), 9, await momex.store.version("ann"))
    memories = await momex.store.memories("ann", [hit.memory_id for hit in hits])
    return [memories[hit.memory_id].text for hit in hits]


async def test_an_index_is_built_without_an_embedder(indexed: Momex, monkeypatch: pytest.MonkeyPatch) -> None:
    await indexed.add_now("ann", [told("I moor the boat in Whitby.")])
    async with indexed.store.database.tenant("ann") as connection:
        await connection.execute("delete from memory_terms where tenant_id = 'ann'")
    monkeypatch.setattr(indexed.embedder, "_embedder", Broken())
    indexed.embedder.clear()
    assert await caught_up(indexed) == {"ann": 1}
    assert await found(indexed, "whitby") == ["I moor the boat in Whitby."]


async def test_an_index_does_not_write_back_memories_forgotten_since(momex: Momex, database: Database) -> None:
    await momex.add_now("ann", [told("I moor the boat in Whitby.")])
    epoch = (await momex.store.version("ann")).epoch
    [memory] = await momex.store.containing("ann", "Whitby")
    asked = await momex.long_term.forgetter.ask("ann", [memory], "", "Whitby", momex.clock.now(), memory.number)
    await momex.long_term.forgetter.confirm("ann", asked.id, momex.clock.now())
    vectors = {"whitby": (await momex.embedder.embed(["whitby"]))[0]}
    await momex.store.vectors.add_terms("ann", momex.embedder.name, vectors, epoch)
    assert await momex.store.vectors.terms("ann", momex.embedder.name, ["whitby"]) == {}
    await momex.store.vectors.add_terms("ann", momex.embedder.name, vectors, epoch + 1)
    assert list(await momex.store.vectors.terms("ann", momex.embedder.name, ["whitby"])) == ["whitby"]


async def test_search_visits_the_rarest_terms_first_and_skips_the_commonest(
    indexed: Momex, monkeypatch: pytest.MonkeyPatch
) -> None:
    await indexed.add_now("ann", [told(f"The boat number {name} is blue.") for name in ("eins", "zwei", "drei")])
    await caught_up(indexed)
    assert len(await found(indexed, "boat", "zwei")) == 3
    monkeypatch.setattr(structured, "MAX_REFERENCES", 2)
    assert await found(indexed, "boat", "zwei") == ["The boat number zwei is blue."]
    assert len(await found(indexed, "boat")) == 3, "where there is nothing rarer, the commonest is looked for"


async def test_closing_an_index_while_it_catches_up_does_not_hang(indexed: Momex) -> None:
    assert indexed.indexes is not None
    await indexed.add_now("ann", [told(f"The boat number {number} is blue.") for number in range(BATCH)])
    begun = time.monotonic()
    await caught_up(indexed)
    whole = time.monotonic() - begun
    for share in range(1, 13):
        async with asyncio.timeout(PATIENCE):
            await indexed.indexes.drop("ann")
            indexed.indexes.soon("ann")
            await asyncio.sleep(whole * share / 13)
            await indexed.indexes.close()
    assert await caught_up(indexed) == {"ann": BATCH}


async def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    thread, begun, go = OwnerThread(), asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    done: list[str] = []

    async def work(name: str) -> None:
        loop.call_soon_threadsafe(begun.set)
        await eventually(go.is_set, "that another thread sets it")
        done.append(name)

    tasks = [asyncio.create_task(thread.run(work(name))) for name in ("first", "second", "third")]
    await begun.wait()
    for task in tasks[:2]:
        task.cancel()
    await asyncio.wait(tasks[:2])
    go.set()
    await tasks[2]
    thread.close()
    assert done == ["first", "third"], "what had begun comes to its end"
