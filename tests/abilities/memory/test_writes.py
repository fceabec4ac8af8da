"""Memory's writes when an answer is lost, or the job has become another's: nothing is lost, and nothing doubled."""

from collections.abc import AsyncIterator, Sequence

import pytest

from abilities.memory.extraction.extractors import UNREAD, LaterExtractor
from abilities.memory.jobs import Job
from abilities.memory.momex import Momex
from abilities.memory.recall.search import Scope
from abilities.memory.runner import MemoryRunner
from abilities.memory.store.memories import Change, Reread
from abilities.memory.types import RetrieverKind, Vector
from core.db.database import Database
from tests.abilities.memory.harness import WordEmbedder, everything, holding, make_momex, make_person, told
from tests.core.harness import DumbDatabase, TwiceDatabase

SAID = "We saw a heron at the pond."


@pytest.fixture
async def twice(database_url: str) -> AsyncIterator[TwiceDatabase]:
    """Yield a database that loses every answer once, with Ann in it."""
    database = TwiceDatabase(database_url)
    await make_person(database, "ann")
    yield database
    await database.close()


async def claimed(momex: Momex, words: str, job_id: str, days_ago: int = 0) -> Job:
    """Add a job and claim it."""
    await momex.work.add("ann", job_id, "", [told(words, key=job_id, days_ago=days_ago)], infer=True)
    job = await MemoryRunner(momex.work, "w1").claim(None)
    assert job is not None
    assert job.id == job_id
    return job


async def left(database: Database) -> list[tuple[str, int]]:
    """Return the jobs of Ann's, and how often her memories were repeated."""
    rows = await database.tenant_rows(
        "ann", "select id, 0 as n from memory_jobs where tenant_id = $1 union all select text, repeated from memories"
    )
    return [(row["id"], row["n"]) for row in rows]


async def test_promise_2_a_job_whose_answers_are_lost_is_done_once(twice: TwiceDatabase) -> None:
    momex = make_momex(twice)
    for number, repeated in enumerate((0, 1, 2)):
        job = await claimed(momex, "we saw a heron, at the pond!" if number else SAID, f"j{number}", 3 - number)
        await momex.work.run(job)
        assert await left(twice) == [(SAID, repeated)]
    await momex.adder.add("ann", "", [told(SAID, key="again")])
    assert await left(twice) == [(SAID, 3)], "without a job, too"
    assert twice.differing == []


async def test_promise_2_an_end_that_is_not_acknowledged_is_not_done_again(database_url: str) -> None:
    database = DumbDatabase(database_url)
    await make_person(database, "ann")
    momex = make_momex(database)
    job = await claimed(momex, SAID, "j1")
    database.losing = 1
    await MemoryRunner(momex.work, "w1").run(job)
    assert database.losing == 0
    assert await left(database) == [(SAID, 0)], "the job has ended with what it stored"
    assert await MemoryRunner(momex.work, "w2").claim(None) is None
    await database.close()


async def test_a_job_that_another_has_by_now_stores_nothing(momex: Momex, database: Database) -> None:
    job = await claimed(momex, SAID, "j1")
    await database.tenant_rows("ann", "update memory_jobs set owner = 'w2' where tenant_id = $1")
    await momex.work.run(job)
    assert await left(database) == [("j1", 0)], "it is theirs, with all that it is to store"


async def test_readings_that_are_stored_again_change_nothing(twice: TwiceDatabase) -> None:
    momex = make_momex(twice)
    adder = momex.adder.__class__(momex.store, momex.embedder, LaterExtractor())
    await adder.add(
        "ann", "", [told(text, days_ago=3 - n) for n, text in enumerate(("I live in Bonn.", SAID, "I sing."))]
    )
    bonn, rows, sings = await everything(momex, "ann")
    assert [memory.id for memory in await momex.store.read_by("ann", UNREAD, 9)] == [bonn.id, rows.id, sings.id]
    found = [
        Reread(rows.id, {"topics": ["boats"]}, "model", held=False, change=Change(replaces=(bonn.id,))),
        Reread(sings.id, {}, "model", held=False, change=Change(repeats=rows.id)),
        Reread("gone", {}, "model", held=False),
    ]
    await momex.store.reread("ann", found, indexed=False)
    ended = {memory.text: memory.superseded_by for memory in await everything(momex, "ann")}
    assert ended == {"I live in Bonn.": rows.id, SAID: None, "I sing.": rows.id}
    assert await holding(momex, "ann") == [SAID]
    assert [memory.id for memory in await momex.store.read_by("ann", UNREAD, 9)] == [bonn.id]
    assert twice.differing == []


class Shorter(WordEmbedder):
    """An embedder whose model has become another one under the same name: its vectors have another length."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return vectors that Postgres cannot compare with those stored."""
        return [vector[:7] for vector in await super().embed(texts)]


async def test_a_vector_that_postgres_refuses_costs_words_nothing(momex: Momex) -> None:
    await momex.add_now("ann", [told("I am allergic to walnuts.")])
    searcher = momex.retriever.__class__(momex.store, Shorter(), None, momex.config)
    recall = await searcher.search(Scope("ann"), "what am I allergic to, walnuts?", momex.clock.now())
    assert [hit.memory.text for hit in recall.found] == ["I am allergic to walnuts."]
    missed = {report.kind: report.missed for report in recall.reports}
    assert missed == {
        RetrieverKind.TEXT: None,
        RetrieverKind.VECTOR: "DataError",
        RetrieverKind.STRUCTURED: "off",
    }
