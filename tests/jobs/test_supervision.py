"""Each part of a worker lives by itself: what one raises is logged by its name, tried again later, and seen."""

import asyncio

import pytest
from redis.exceptions import ConnectionError as RedisAway

from core.clock import Clock
from core.db.database import Database
from jobs import supervision
from jobs.supervision import Part, PartSupervisor, stalls_seen
from jobs.upkeep.clock_check import CheckedClock
from jobs.upkeep.schedule import report_health
from notify.setbacks import LONGEST, Setbacks
from operations.doctor.work import check_workers
from operations.worker_health import workers_seen
from tests.eventually import never


class Pauses:
    """Pauses that are written down and take no time, until so many were made."""

    def __init__(self, most: int) -> None:
        self.made: list[float] = []
        self.enough = asyncio.Event()
        self._most = most

    async def __call__(self, seconds: float) -> None:
        """Record the wait; stop at the last one."""
        self.made.append(seconds)
        if len(self.made) >= self._most:
            self.enough.set()
            await asyncio.Event().wait()


async def ends(*tasks: "asyncio.Task[None]") -> None:
    """Cancel tasks and wait for them."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_a_part_that_always_fails_neither_ends_nor_restarts_another() -> None:
    pauses, begun = Pauses(12), 0

    async def bad() -> None:
        raise RuntimeError

    async def good() -> None:
        nonlocal begun
        begun += 1
        await asyncio.Event().wait()

    supervisor = PartSupervisor(pauses)
    running = [asyncio.create_task(supervisor.run(part)) for part in (Part("bad", bad), Part("good", good))]
    await pauses.enough.wait()
    [failing] = supervisor.failing()
    assert (failing.name, failing.failures, failing.cause) == ("bad", 12, "RuntimeError")
    assert begun == 1
    assert pauses.made[:3] == [0.2, 0.4, 0.8]
    assert pauses.made[-1] == supervision.MAX_PAUSE
    assert not any(task.done() for task in running)
    await ends(*running)


async def test_a_part_that_runs_again_no_longer_counts_as_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "STEADY", 0.0)
    tries, well = 0, asyncio.Event()

    async def mends() -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise RuntimeError
        well.set()
        await never()

    supervisor = PartSupervisor(Pauses(99))
    running = asyncio.create_task(supervisor.run(Part("mends", mends)))
    await well.wait()
    await asyncio.sleep(0)
    assert supervisor.failing() == []
    await ends(running)


async def test_redis_being_away_is_no_failure_and_never_waits_long() -> None:
    pauses = Pauses(12)

    async def away() -> None:
        raise RedisAway

    supervisor = PartSupervisor(pauses)
    running = asyncio.create_task(supervisor.run(Part("away", away)))
    await pauses.enough.wait()
    assert supervisor.failing() == []
    assert max(pauses.made) == supervision.AWAY_PAUSE
    await ends(running)


async def test_doctor_shows_the_part_of_a_worker_that_keeps_failing(database_url: str) -> None:
    database, pauses = Database(database_url), Pauses(3)

    async def bad() -> None:
        raise LookupError

    supervisor = PartSupervisor(pauses)
    running = asyncio.create_task(supervisor.run(Part("profiles", bad)))
    await pauses.enough.wait()
    clock = CheckedClock(None, database)
    await report_health(database, "host:7/run_1", clock, supervisor)
    await report_health(database, "host:7/run_1", clock, supervisor)
    workers, trouble = await check_workers(database)
    assert (workers.ok, workers.detail) == (True, "1 seen in the last minute")
    assert (trouble.ok, trouble.what) == (False, "part of host:7")
    assert "profiles: failed 3 times in a row, last with LookupError" in trouble.detail
    assert await stalls_seen(database, supervisor) == ("profiles: failed 3 times in a row",)
    await ends(running)
    await database.close()


async def test_a_worker_that_is_well_is_seen_without_trouble(database_url: str) -> None:
    database = Database(database_url)
    assert [check.detail for check in await check_workers(database)] == ["0 seen in the last minute"]
    await report_health(database, "host:7/run_1", CheckedClock(None, database), PartSupervisor())
    [seen] = await workers_seen(database)
    assert seen.failing == ()
    assert await stalls_seen(database, PartSupervisor()) == ()
    assert seen.ahead is not None
    assert all(check.ok for check in await check_workers(database))
    await database.close()


async def test_a_worker_without_its_database_says_so() -> None:
    nowhere = Database("postgresql://onevalet@127.0.0.1:1/onevalet", patience=0.1)
    assert await stalls_seen(nowhere, PartSupervisor()) == ("Postgres does not answer",)
    await nowhere.close()


async def test_who_raises_is_left_alone_longer_each_time_and_the_others_go_on() -> None:
    moments, tried = [0.0], list[str]()
    each = Setbacks("failed", lambda: moments[-1])

    async def bad() -> int:
        tried.append("bad")
        raise RuntimeError

    async def good() -> int:
        tried.append("good")
        return 1

    for moment in (0.0, 1.0, 6.0, 7.0, 20.0):
        moments.append(moment)
        assert await each.does("ann", bad) == 0
        assert await each.does("bob", good) == 1
    assert tried.count("good") == 5
    assert tried.count("bad") == 3, "at 0, 6 and 20 seconds"
    moments.append(20.0 + LONGEST)
    assert await each.does("ann", good) == 1


def test_a_plain_clock_is_relied_on() -> None:
    assert asyncio.run(Clock().sound_now()) is not None
