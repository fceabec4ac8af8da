"""Where memory is off, what turns queue for it costs one statement for all of them."""

from abilities.memory.opening import memory_work
from abilities.memory.runner import MemoryRunner
from core.queue.wakeups import NoWakeups
from tests.core.harness import opened
from tests.jobs.refusing_harness import Refusing, RefusingHarness


async def test_jobs_of_many_turns_are_cleared_by_one_statement(database_url: str) -> None:
    database = Refusing(database_url)
    async with opened(database_url, database) as store:
        system = RefusingHarness(store, database)
        for text in ("one", "two", "three"):
            await store.say(text)
            await system.work()
        assert await store.db.memory_jobs.count() == 3
        await store.admin.execute(
            "update memory_jobs set not_before = 'infinity' where id in (select id from memory_jobs limit 1)"
        )  # set aside, for its operator to see
        runner = MemoryRunner(memory_work(None, database, NoWakeups()), "w1")
        database.seen.clear()
        assert await runner.claim(None) is None
        assert len(database.seen) == 1
        assert await store.column("select not_before from memory_jobs where not_before < 'infinity'") == []
        assert await store.db.memory_jobs.count() == 1
