"""Chores: one worker of all does each, and what goes wrong with one concerns no other."""

import asyncio
import inspect
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from arq.worker import Worker
from redis.asyncio import Redis
from redis.exceptions import RedisError
from structlog.testing import capture_logs

from core.errors import StoreUnavailable
from core.queue.payloads import pack, unpack
from jobs.upkeep import chores
from jobs.upkeep.chores import QUEUE, run_chores
from jobs.upkeep.periodic import Periodic
from tests.eventually import eventually
from tests.patience import PATIENCE

HOUR = timedelta(hours=1)

type Work = Callable[[], Awaitable[object]]


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let chores be due a moment after their workers' start, at the same time in all of them."""
    due = datetime.now(UTC) + timedelta(seconds=1)
    monkeypatch.setattr(chores, "LOOK", 0.1)
    shipped = chores._job

    def due_soon(chore: Periodic) -> object:
        job = shipped(chore)
        job.next_run = due
        return job

    monkeypatch.setattr(chores, "_job", due_soon)


@pytest.fixture(autouse=True)
def looks(monkeypatch: pytest.MonkeyPatch) -> Counter[Worker]:
    """Return how often each worker has looked for what is due and at the queue."""
    looks, shipped = Counter[Worker](), Worker._poll_iteration

    async def counted(worker: Worker) -> None:
        await shipped(worker)
        looks[worker] += 1

    monkeypatch.setattr(Worker, "_poll_iteration", counted)
    return looks


async def run_until(done: asyncio.Event, looks: Counter[Worker], redis_url: str, *works: Work, workers: int) -> None:
    """Run workers with these chores until the event, and until each has queued and found what else is due."""
    table = [Periodic(f"chore {number}", HOUR, work) for number, work in enumerate(works)]
    tasks = [asyncio.create_task(run_chores(redis_url, table)) for _ in range(workers)]
    await asyncio.wait_for(done.wait(), PATIENCE)
    before = looks.copy()
    await eventually(lambda: sum(count >= before[worker] + 3 for worker, count in looks.items()) == workers)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_a_chore_is_done_by_one_of_three_workers(redis_url: str, looks: Counter[Worker]) -> None:
    calls, done = 0, asyncio.Event()

    async def work() -> None:
        nonlocal calls
        calls += 1
        done.set()

    await run_until(done, looks, redis_url, work, workers=3)
    assert calls == 1


async def test_a_chore_that_fails_is_logged_and_keeps_no_other_from_its_turn(
    redis_url: str, looks: Counter[Worker]
) -> None:
    done = asyncio.Event()

    async def away() -> None:
        raise StoreUnavailable("away")

    async def broken() -> None:
        raise LookupError

    async def good() -> None:
        done.set()

    with capture_logs() as logged:
        await run_until(done, looks, redis_url, away, broken, good, workers=1)
    assert {(entry["event"], entry.get("chore")) for entry in logged} == {
        ("chore_skipped", "chore 0"),
        ("chore_failed", "chore 1"),
    }


async def test_what_a_chore_puts_into_redis_is_json_and_names_nobody(redis_url: str, looks: Counter[Worker]) -> None:
    found: list[dict[str, object]] = []
    done = asyncio.Event()

    async def work() -> None:
        async with Redis.from_url(redis_url) as redis:
            found.extend([json.loads(await redis.get(key)) for key in await redis.keys("arq:job:*")])
            assert await redis.type(QUEUE) == b"zset"
        done.set()

    await run_until(done, looks, redis_url, work, workers=1)
    assert [(job["f"], job["a"], job["k"]) for job in found] == [("chore 0", [], {})]


async def test_without_redis_the_part_fails_for_its_supervisor_to_restart() -> None:
    async def work() -> None: ...

    with pytest.raises((RedisError, OSError)):
        await run_chores("redis://127.0.0.1:1/0", [Periodic("chore", HOUR, work)])


def test_packing_never_pickles() -> None:
    assert unpack(pack({"a": ["x"], "e": ValueError("secret")})) == {"a": ["x"], "e": "ValueError"}


def test_arqs_worker_looks_for_cron_jobs_as_far_ahead_as_it_sleeps() -> None:
    assert "cron_window_size = max(self.poll_delay_s, 0.5)" in inspect.getsource(Worker.heart_beat)
