"""Memory's jobs: their lease is short, kept alive by a worker at work, and free soon after one that was killed."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from abilities.memory import jobs as memory_jobs
from abilities.memory import runner as memory_runner
from abilities.memory.config import MomexConfig
from abilities.memory.jobs import Job
from abilities.memory.long_term import MomexParts
from abilities.memory.momex import Momex
from abilities.memory.runner import MemoryRunner
from abilities.memory.store.memories import HeldJob
from abilities.memory.types import Vector
from core.db.database import Database
from core.ids import make_id
from tests.abilities.memory.harness import NOW, WordEmbedder, holding, make_momex, make_person, told
from tests.clocks import StandingClock
from tests.core.harness import RecordedWakeups
from tests.eventually import eventually

QUICK = timedelta(milliseconds=300)
SAID = "I row on Tuesdays."


class HeldEmbedder(WordEmbedder):
    """Embed when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may = asyncio.Event(), asyncio.Event()

    def at_cost_of(self, tenant_id: str) -> "HeldEmbedder":
        """Return itself: its calls cost nothing."""
        return self

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Wait until it may, and embed."""
        self.begun.set()
        await self.may.wait()
        return await super().embed(texts)


def held_momex(database: Database, embedder: HeldEmbedder) -> Momex:
    """Make a memory whose jobs end when the embedder may embed."""
    config = MomexConfig(structured=False, patience=5.0)
    parts = MomexParts(embedder=embedder, make_id=make_id, clock=StandingClock(NOW))
    return Momex(config=config, database=database, parts=parts)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """Yield a database with Ann in it."""
    database = Database(database_url, patience=5, size=5)
    await make_person(database, "ann")
    yield database
    await database.close()


async def begun(database: Database, embedder: HeldEmbedder) -> tuple[Momex, Job, asyncio.Task[None]]:
    """Begin a job of Ann's, and leave it in the middle."""
    momex = held_momex(database, embedder)
    await momex.work.add("ann", "j1", "", [told(SAID)], infer=True)
    runner = MemoryRunner(momex.work, "w1")
    job = await runner.claim(None)
    assert job is not None
    doing = asyncio.create_task(runner.run(job))
    await embedder.begun.wait()
    return momex, job, doing


async def leased(database: Database) -> tuple[object, object]:
    """Return the owner of Ann's job, and until when it has it."""
    row = await database.tenant_row("ann", "select owner, lease_until from memory_jobs where tenant_id = $1")
    assert row is not None
    return row["owner"], row["lease_until"]


async def test_a_job_at_work_keeps_its_lease_for_as_long_as_it_takes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (memory_jobs, memory_runner):
        monkeypatch.setattr(module, "LEASE", QUICK)
    embedder = HeldEmbedder()
    momex, job, doing = await begun(database, embedder)
    _, first = await leased(database)

    async def is_renewed() -> bool:
        row = await database.tenant_row(
            "ann",
            "select lease_until > $2::timestamptz + $3 as late from memory_jobs where tenant_id = $1",
            first,
            QUICK,
        )
        return row is not None and row["late"]

    await eventually(is_renewed, "a lease longer than two leases")
    assert (await leased(database))[0] == job.owner
    embedder.may.set()
    await doing
    assert await database.tenant_row("ann", "select from memory_jobs where tenant_id = $1") is None
    assert await holding(momex, "ann") == [SAID]


async def test_a_job_that_another_has_taken_is_let_go_and_stays_theirs(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (memory_jobs, memory_runner):
        monkeypatch.setattr(module, "LEASE", QUICK)
    momex, job, doing = await begun(database, HeldEmbedder())
    await database.tenant_rows(
        "ann",
        "update memory_jobs set owner = 'w2', lease_until = clock_timestamp() + interval '1 hour' where tenant_id = $1",
    )
    await doing
    await momex.store.keep("ann", "", (), "", HeldJob(job.id, job.owner))
    wakeups = RecordedWakeups()
    await replace(momex.work, wakeups=wakeups)._put_off(job)
    assert wakeups.later == [("memory", job.id, timedelta(seconds=5))]
    assert (await leased(database))[0] == "w2"
    assert await holding(momex, "ann") == []


@pytest.mark.slow
async def test_what_was_forgotten_is_gone_soon_after_a_worker_was_killed(database: Database, database_url: str) -> None:
    momex = make_momex(database)
    await momex.adder.add("ann", "", [told("My sister is Wilhelmina.")])
    sister = await momex.store.newest("ann", 10)
    asked = await momex.long_term.forgetter.ask("ann", sister, None, "Wilhelmina", NOW, sister[0].number)
    await momex.work.add("ann", "j1", "", [told(SAID)], infer=True)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.abilities.memory.memory_victim", database_url, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"begun\n"
    process.send_signal(signal.SIGKILL)
    await process.wait()
    assert await momex.long_term.forgetter.confirm("ann", asked.id, NOW) == 1
    assert not await momex.long_term.forgetter.redact("ann", NOW), (
        "the dead worker's job may still store it, for all we know"
    )
    left = await database.tenant_row(
        "ann", "select lease_until - clock_timestamp() as held from memory_jobs where tenant_id = $1"
    )
    assert left is not None
    assert left["held"] <= timedelta(seconds=30)
    runner = MemoryRunner(momex.work, "w2")
    assert await runner.claim(None) is None, "the dead worker still has it"
    await database.tenant_rows(
        "ann",
        "update memory_jobs set lease_until = lease_until - $2::interval, not_before = not_before - $2::interval"
        " where tenant_id = $1",
        left["held"],
    )
    job = await runner.claim(None)
    assert job is not None
    await runner.run(job)
    assert await database.tenant_row("ann", "select from memory_forgettings where tenant_id = $1") is None
    assert await holding(momex, "ann") == [SAID]
