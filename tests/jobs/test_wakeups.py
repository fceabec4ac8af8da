"""Wakeups are heard at once, carry ids only, and losing them loses nothing."""

import asyncio
import inspect
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from arq.connections import create_pool
from arq.worker import Worker, func
from redis.asyncio import Redis

from core.queue.payloads import pack, unpack
from core.queue.wakeups import DELIVER, RUN_LANE, TURNS, NoWakeups, RedisWakeups, redis_settings
from jobs.worker import WakeableWorker, run_arq
from tests.patience import PATIENCE
from tests.services import private_valkey


@asynccontextmanager
async def ringing(redis_url: str) -> AsyncIterator[RedisWakeups]:
    wakeups = RedisWakeups(redis_url)
    await wakeups.start()
    try:
        yield wakeups
    finally:
        await wakeups.stop()


async def rung(redis_url: str) -> list[dict[str, object]]:
    """Return the jobs that lie in Redis."""
    async with Redis.from_url(redis_url) as redis:
        keys = [key async for key in redis.scan_iter("arq:job:*")]
        return [json.loads(await redis.get(key)) for key in keys]


async def until_rung(redis_url: str, count: int) -> list[dict[str, object]]:
    async with asyncio.timeout(PATIENCE):
        while len(jobs := await rung(redis_url)) < count:  # noqa: ASYNC110 - Redis rings no bell for us
            await asyncio.sleep(0.01)
    return jobs


async def test_what_lies_in_redis_is_json_with_a_row_id_and_nothing_else(redis_url: str) -> None:
    async with ringing(redis_url) as wakeups:
        wakeups.wake_turn("cv_1")
        wakeups.wake_delivery("cv_2")
        jobs = await until_rung(redis_url, 2)
    order = sorted((str(job["f"]), job["a"], job["k"]) for job in jobs)
    assert order == [(DELIVER, ["cv_2"], {}), (RUN_LANE, ["cv_1"], {})]
    assert all(set(job) == {"t", "f", "a", "k", "et"} for job in jobs)


def test_packing_never_pickles() -> None:
    assert unpack(pack({"a": ["x"], "e": ValueError("secret")})) == {"a": ["x"], "e": "ValueError"}


async def test_ringing_never_waits_and_never_fails_without_redis() -> None:
    async with ringing("redis://127.0.0.1:1/0") as wakeups:
        before = time.perf_counter()
        for number in range(2000):
            wakeups.wake_turn(f"cv_{number}")
        assert time.perf_counter() - before < 10
    NoWakeups().wake_turn("cv")
    NoWakeups().wake_delivery("cv")


async def test_wakeups_resume_when_redis_is_back() -> None:
    async with private_valkey() as server, ringing(server.url) as wakeups:
        wakeups.wake_turn("cv_1")
        await until_rung(server.url, 1)
        await server.stop()
        wakeups.wake_turn("cv_lost")
        await asyncio.sleep(0.05)
        await server.start()
        await asyncio.sleep(0.05)
        async with asyncio.timeout(PATIENCE):
            while "cv_2" not in str(await rung(server.url)):
                wakeups.wake_turn("cv_2")
                await asyncio.sleep(0.05)


async def test_a_ring_is_heard_in_a_small_part_of_the_poll_delay(redis_url: str) -> None:
    poll_delay = 2.0
    heard: asyncio.Queue[float] = asyncio.Queue()
    bell_rung = asyncio.Event()

    async def hear(context: object, row_id: str) -> None:
        heard.put_nowait(time.perf_counter())

    ear = WakeableWorker(
        functions=[func(hear, name=RUN_LANE)],  # type: ignore[arg-type]
        rung=bell_rung, queue_name=TURNS, redis_settings=redis_settings(redis_url), handle_signals=False,
        poll_delay=poll_delay, keep_result=0, job_serializer=pack, job_deserializer=unpack,
    )  # fmt: skip
    listening = asyncio.create_task(run_arq(ear))
    redis = await create_pool(redis_settings(redis_url), job_serializer=pack, job_deserializer=unpack)
    waits = []
    for number in range(5):
        await asyncio.sleep(0.05)
        rings = time.perf_counter()
        await redis.enqueue_job(RUN_LANE, f"cv_{number}", _queue_name=TURNS)
        bell_rung.set()
        waits.append(await asyncio.wait_for(heard.get(), 10) - rings)
    await redis.aclose()
    listening.cancel()
    await asyncio.wait([listening])
    assert sorted(waits)[2] < poll_delay / 4, waits


def test_arqs_worker_still_has_the_shape_that_the_ear_replaces() -> None:
    source = inspect.getsource(Worker.main)
    assert "async for _ in poll(self.poll_delay_s):\n            await self._poll_iteration()" in source
    assert "self._pool = await create_pool(" in source
    assert "self.ctx['redis'] = self.pool" in source
    assert list(inspect.signature(Worker._poll_iteration).parameters) == ["self"]
    run_job = inspect.getsource(Worker.run_job)
    assert "asyncio.wait_for(task, timeout_s)" in run_job
    assert WakeableWorker.main is not Worker.main


async def test_what_stands_in_a_queues_place_is_deleted_by_the_next_ring(redis_url: str) -> None:
    async with Redis.from_url(redis_url) as redis, ringing(redis_url) as wakeups:
        await redis.set(TURNS, "PWNED")
        wakeups.wake_turn("cv_1")
        await until_rung(redis_url, 1)
        async with asyncio.timeout(PATIENCE):
            while await redis.type(TURNS) != b"zset":  # noqa: ASYNC110 - Redis rings no bell for us
                await asyncio.sleep(0.01)
        assert await redis.zcard(TURNS) == 1
