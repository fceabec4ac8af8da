"""Periodic work: one worker of all has each tick, and what goes wrong with one chore concerns no other."""

import asyncio
import inspect
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from arq.cron import CronJob
from arq.worker import Worker
from redis.asyncio import Redis
from redis.exceptions import RedisError
from structlog.testing import capture_logs

from core.clock import Clock
from core.errors import StoreUnavailable
from core.queue.due import DueWatch
from core.queue.payloads import pack, unpack
from jobs.later import cron
from jobs.later.cron import Chore, Chores, ticks
from jobs.later.queueing import QUEUE
from jobs.later.worker import LaterWorker
from tests.core.harness import Store
from tests.eventually import eventually
from tests.jobs.worker_harness import WorkerHarness
from tests.patience import PATIENCE

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def no_row(work: str, row_id: str) -> None:
    """Take no row: these jobs are ticks."""
    raise AssertionError((work, row_id))


async def nothing() -> None:
    """Do nothing."""


@pytest.fixture
def tick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all chores of the test have one tick, a moment after their workers' start."""
    due, shipped = datetime.now(UTC) + timedelta(seconds=1), Chores._job

    def due_soon(chores: Chores, chore: Chore) -> CronJob:
        job = shipped(chores, chore)
        job.next_run = due
        return job

    monkeypatch.setattr(Chores, "_job", due_soon)


@pytest.mark.usefixtures("tick")
async def test_one_of_three_workers_has_a_tick(redis_url: str) -> None:
    rung = list[str]()
    workers = [
        LaterWorker(redis_url, no_row, Chores([Chore("sweep", HOUR, nothing)], now=noting(rung, name)))
        for name in ("w1", "w2", "w3")
    ]
    running = [asyncio.create_task(worker.run()) for worker in workers]
    async with Redis.from_url(redis_url) as redis:
        await eventually(lambda: rung, "the tick")
        await eventually(lambda: _empty(redis), "the end of its job")
    for task in running:
        task.cancel()
    await asyncio.wait(running)
    assert len(rung) == 1


def noting(rung: list[str], name: str) -> Callable[[], float]:
    """Return a clock that notes who asked it: chores do when they are rung."""

    def now() -> float:
        rung.append(name)
        return 0.0

    return now


async def _empty(redis: Redis) -> bool:
    return bool(await redis.zcard(QUEUE) == 0)


@pytest.mark.usefixtures("tick")
async def test_a_tick_is_json_and_names_nobody(redis_url: str) -> None:
    async with Redis.from_url(redis_url) as redis:
        chores = Chores([Chore("sweep", HOUR, nothing)])
        running = asyncio.create_task(LaterWorker(redis_url, no_row, chores).run())
        [key] = await eventually(lambda: redis.keys("arq:job:*"), "the tick")
        job = json.loads(await redis.get(key))
        running.cancel()
        await asyncio.wait([running])
    assert (job["f"], job["a"], job["k"]) == ("sweep", [], {})


async def test_without_redis_arqs_worker_fails_and_rings_what_goes_on() -> None:
    now = [5.0]  # the machine started a moment ago
    going, for_all = Chore("approvals", MINUTE, nothing), Chore("old audit", MINUTE, nothing, for_all=True)
    chores = Chores([going, for_all], now=lambda: now[0])
    worker = LaterWorker("redis://127.0.0.1:1/0", no_row, chores)
    for now[0], rings in ((5.0, True), (64.0, False), (66.0, True)):
        with pytest.raises((RedisError, OSError)):
            await worker.run()
        assert going._rung.is_set() is rings
        assert not for_all._rung.is_set()
        going._rung.clear()


async def test_a_chore_is_rung_and_skips_a_time_while_the_database_is_away() -> None:
    calls = asyncio.Queue[int]()
    count = 0

    async def once() -> None:
        nonlocal count
        count += 1
        calls.put_nowait(count)
        if count == 1:
            raise StoreUnavailable("away")

    chore = Chore("sweep", timedelta(0), once)
    with capture_logs() as logged:
        running = asyncio.create_task(chore.run())
        async with asyncio.timeout(PATIENCE):
            for expected in (1, 2, 3):
                chore.look()
                assert await calls.get() == expected
        running.cancel()
    assert logged == [{"event": "upkeep_delayed", "log_level": "warning", "part": "sweep", "cause": "away"}]


async def test_a_chore_is_done_at_a_workers_start_and_when_the_watch_tells(store: Store, redis_url: str) -> None:
    done = asyncio.Queue[None]()

    async def once() -> None:
        done.put_nowait(None)

    chore, watch = Chore("reminders", HOUR, once, "reminding", by_peoples_clock=True), DueWatch(store.database, Clock())
    async with WorkerHarness(store).working(redis_url, watch=watch, chores=[chore]), asyncio.timeout(PATIENCE):
        await done.get()
        watch.tell("reminding")
        await done.get()
    assert "reminding" in watch._by_peoples_clock


async def test_an_unforeseen_error_ends_a_chore_for_its_supervisor_to_restart() -> None:
    async def once() -> None:
        raise LookupError

    chore = Chore("sweep", HOUR, once)
    chore.look()
    with pytest.raises(LookupError):
        await chore.run()


async def test_what_one_worker_does_for_all_is_cut_off_when_it_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cron, "WITHIN", timedelta(milliseconds=10))
    chore = Chore("old audit", HOUR, asyncio.Event().wait, for_all=True)
    chore.look()
    with pytest.raises(TimeoutError):
        await chore.run()


@pytest.mark.parametrize(
    ("every", "times"),
    [
        (timedelta(seconds=20), (None, None, {0, 20, 40})),
        (MINUTE, (None, set(range(60)), {0})),
        (timedelta(minutes=10), (None, {0, 10, 20, 30, 40, 50}, {0})),
        (HOUR, (set(range(24)), {0}, {0})),
        (timedelta(hours=6), ({0, 6, 12, 18}, {0}, {0})),
        (timedelta(days=1), ({0}, {0}, {0})),
        (timedelta(days=30), ({0}, {0}, {0})),
        (timedelta(milliseconds=10), (None, None, set(range(60)))),
    ],
)
def test_ticks_come_about_as_often_as_they_are_wanted(every: timedelta, times: tuple[object, ...]) -> None:
    assert tuple(ticks(every)) == times


def test_packing_never_pickles() -> None:
    assert unpack(pack({"a": ["x"], "e": ValueError("secret")})) == {"a": ["x"], "e": "ValueError"}


def test_arqs_worker_looks_for_cron_jobs_as_far_ahead_as_it_sleeps() -> None:
    assert "cron_window_size = max(self.poll_delay_s, 0.5)" in inspect.getsource(Worker.heart_beat)
