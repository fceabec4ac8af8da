"""`kill -9` in the middle of adding leaves the truth whole, and an index made of it right."""

import asyncio
import signal
import sys

import pytest

from abilities.memory.index.typeagent_index import StructuredQuery
from abilities.memory.momex import Momex
from core.db.database import Database
from tests.abilities.memory.harness import caught_up, everything, made_life, make_momex, make_person

COUNT = 32


async def killed_after(url: str, line: int, count: int = COUNT) -> None:
    """Run the victim until it has said so many lines, and kill it in the middle of the next."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.abilities.memory.victim", url, str(count), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    for _ in range(line):
        assert await process.stdout.readline()
    await asyncio.sleep(0.004)
    process.send_signal(signal.SIGKILL)
    await process.wait()


@pytest.mark.slow
@pytest.mark.xdist_group("typeagent")
async def test_kill_9_during_ingestion_loses_and_doubles_nothing(
    indexed: Momex, database: Database, database_url: str
) -> None:
    await killed_after(database_url, 13)
    version = await indexed.store.version("ann")
    assert [memory.number for memory in await everything(indexed, "ann")] == list(range(1, version.number + 1))
    assert await caught_up(indexed) == {"ann": version.number}
    await indexed.adder.add("ann", "", made_life(COUNT))
    await make_person(database, "bob")
    whole = make_momex(database)
    await whole.adder.add("bob", "", made_life(COUNT))
    stored = [
        (memory.number, memory.text, memory.valid_to, bool(memory.superseded_by))
        for memory in await everything(indexed, "ann")
    ]
    assert stored == [
        (memory.number, memory.text, memory.valid_to, bool(memory.superseded_by))
        for memory in await everything(whole, "bob")
    ]
    assert sum(text.startswith("I live in") and until is None for _, text, until, _ in stored) == 1
    assert await caught_up(indexed) == {"ann": len(stored)}


@pytest.mark.slow
@pytest.mark.xdist_group("typeagent")
async def test_kill_9_during_index_catch_up_leaves_rows_and_next_index_correct(
    indexed: Momex, database: Database, database_url: str
) -> None:
    await indexed.adder.add("ann", "", made_life(COUNT))
    truth = [(memory, await indexed.store.version("ann")) for memory in await everything(indexed, "ann")]
    await killed_after(database_url, 2, count=0)
    assert [(memory, await indexed.store.version("ann")) for memory in await everything(indexed, "ann")] == truth
    assert await caught_up(indexed) == {"ann": len(truth)}
    assert indexed.indexes is not None
    hits = await indexed.indexes.search("ann", StructuredQuery(("town30",)), 5, await indexed.store.version("ann"))
    memories = await indexed.store.memories("ann", [hit.memory_id for hit in hits])
    assert [memory.text for memory in memories.values()] == ["I live in Town30 now."]
