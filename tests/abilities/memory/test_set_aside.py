"""A job of memory that is refused for good is tried ten times, and then shown to the operator."""

import asyncpg
import pytest
from structlog.testing import capture_logs

from abilities.memory.probes import check_jobs
from abilities.memory.runner import MemoryRunner
from tests.abilities.memory.harness import make_momex
from tests.core.harness import opened
from tests.jobs.refusing_harness import Refusing, RefusingHarness

_ENDING = "select * from keep_memories($1,$2,$3,$4,$5)"


async def test_a_job_of_memory_that_always_fails_is_set_aside_and_shown(database_url: str) -> None:
    database = Refusing(database_url)
    async with opened(database_url, database) as store:
        with capture_logs():  # to draw a traceback takes longer than a job
            await _fail(RefusingHarness(store, database))
        [aside] = await check_jobs(database)
        assert aside.detail == "1 not tried any more"


async def _fail(system: RefusingHarness) -> None:
    momex = make_momex(system.database)
    runner = MemoryRunner(momex.work, "w1")
    await system.store.say("I like tea")
    await system.work()
    assert await check_jobs(system.database) == []
    tries = 0
    while (job := await runner.claim(None)) and tries < 50:
        tries += 1
        system.database.refused = _ENDING
        with pytest.raises(asyncpg.PostgresError):
            await runner.run(job)
        system.database.refused = ""
        await system.store.admin.execute(
            "update memory_jobs set not_before = clock_timestamp() where not_before < 'infinity'"
        )
    assert tries == 10
    await momex.close()
