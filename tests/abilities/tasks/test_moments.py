"""A task's moment is a job of arq's: without anybody who looks, the job has the task fired."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from abilities.tasks import runner as triggers
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.kinds.schedule import ScheduleTrigger
from abilities.tasks.runner import TriggerRunner
from abilities.tasks.service import DUE
from abilities.tasks.types import Task
from core.clock import Clock
from core.queue.wakeups import RedisWakeups
from jobs.later.cron import Chores
from jobs.later.queueing import QUEUE, LaterJobs
from jobs.later.worker import LaterWorker
from tests.abilities.tasks.harness import Harness, make_harness
from tests.core.harness import Store
from tests.eventually import eventually


@pytest.fixture(autouse=True)
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runners look when they are told to, and not by themselves."""
    monkeypatch.setattr(triggers, "ASK_ANYWAY", 3600.0)


@asynccontextmanager
async def working(harness: Harness, redis_url: str) -> AsyncIterator[TriggerEngine]:
    """Run what fires tasks, and arq's worker; yield an engine by the machine's clock."""
    later, wakeups = LaterJobs(redis_url), RedisWakeups(redis_url)
    await later.start()
    wakeups.queue_later(later)
    store = harness.store
    engine = TriggerEngine(store.database, store.make_id, Clock(), wakeups, executors=[harness.counting])
    runner = TriggerRunner(engine, harness.runner.looking, harness.runner.notices, engine.clock, watched=True)

    def ring(work: str, _: str) -> None:
        assert work == DUE
        runner.look()

    tasks = [asyncio.create_task(work) for work in (runner.take(), LaterWorker(redis_url, ring, Chores([])).run())]
    try:
        yield engine
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await later.stop()


async def soon(engine: TriggerEngine, tenant: str, title: str) -> Task:
    """Create a task that is due in a moment."""
    trigger = ScheduleTrigger(at=datetime.now(UTC) + timedelta(seconds=1))
    return await engine.create_task(tenant_id=tenant, trigger=trigger, executor="counting", title=title)


async def test_a_task_is_fired_by_the_job_of_its_moment(store: Store, redis_url: str) -> None:
    harness = await make_harness(store)
    async with working(harness, redis_url) as engine:
        task = await soon(engine, harness.tenant, "now")
        await eventually(lambda: engine.runs(harness.tenant, task.id), "the run")


async def test_a_task_that_was_changed_is_fired_at_its_new_moment(store: Store, redis_url: str) -> None:
    harness = await make_harness(store)
    async with working(harness, redis_url) as engine:
        task = await soon(engine, harness.tenant, "paused")
        assert await engine.pause_task(harness.tenant, task.id)
        async with Redis.from_url(redis_url) as redis:
            await eventually(lambda: _count(redis, 1), "its job")
            await redis.flushdb()
        assert await engine.resume_task(harness.tenant, task.id)
        await eventually(lambda: engine.runs(harness.tenant, task.id), "the run")


async def test_many_tasks_of_one_moment_have_one_job(store: Store, redis_url: str) -> None:
    harness = await make_harness(store)
    async with working(harness, redis_url) as engine, Redis.from_url(redis_url) as redis:
        at = datetime.now(UTC).replace(microsecond=500_000) + timedelta(hours=2)
        for number in range(5):
            await engine.create_task(
                tenant_id=harness.tenant, trigger=ScheduleTrigger(at=at), executor="counting", title=f"{number}"
            )
        far = ScheduleTrigger(at=at + timedelta(days=30))
        await engine.create_task(tenant_id=harness.tenant, trigger=far, executor="counting", title="far")
        await eventually(lambda: _count(redis, 1), "the job")
        assert await redis.zcard(QUEUE) <= 2  # their moment may lie on both sides of a tick


async def _count(redis: Redis, least: int) -> bool:
    return bool(await redis.zcard(QUEUE) >= least)
