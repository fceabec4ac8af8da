"""Wakeups are heard at once, carry ids only, and losing them loses nothing."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from redis.asyncio import Redis
from structlog.testing import capture_logs

from core.queue.wakeups import DELIVERY, LISTEN, MEMORY, TURNS, NoWakeups, RedisWakeups, listen
from tests.eventually import eventually, never
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


async def always() -> None:
    """Be ready for the next id."""


@asynccontextmanager
async def listening(redis_url: str, queue: str = TURNS, ready: object = always) -> AsyncIterator[asyncio.Queue[str]]:
    """Yield what a listener hears."""
    heard: asyncio.Queue[str] = asyncio.Queue()
    task = asyncio.create_task(listen(redis_url, queue, ready, heard.put_nowait))  # type: ignore[arg-type]
    try:
        yield heard
    finally:
        task.cancel()
        await asyncio.wait([task])


async def waiting(redis_url: str, queue: str = TURNS) -> list[str]:
    """Return the ids that wait in Redis, in the order in which they are heard."""
    async with Redis.from_url(redis_url) as redis:
        return [row.decode() for row in await redis.zrange(queue, 0, -1)]


async def until_waiting(redis_url: str, count: int, queue: str = TURNS) -> list[str]:
    async def look() -> list[str]:
        rows = await waiting(redis_url, queue)
        return rows if len(rows) >= count else []

    return await eventually(look, f"{count} ids that wait")


async def test_what_lies_in_redis_is_row_ids_and_times_and_nothing_else(redis_url: str) -> None:
    async with ringing(redis_url) as wakeups:
        wakeups.wake_turn("cv_1")
        wakeups.wake_delivery("cv_2")
        wakeups.wake(MEMORY, "turn_3")
        await until_waiting(redis_url, 1, MEMORY)
    async with Redis.from_url(redis_url) as redis:
        keys = {key.decode() for key in await redis.keys("onevalet:wake:*")}
        held = {key: dict(await redis.zrange(key, 0, -1, withscores=True)) for key in keys}
    assert {key: set(rows) for key, rows in held.items()} == {
        TURNS: {b"cv_1"},
        DELIVERY: {b"cv_2"},
        MEMORY: {b"turn_3"},
    }
    assert all(abs(at - time.time()) < PATIENCE for rows in held.values() for at in rows.values())


async def test_a_delivery_that_this_process_takes_wakes_no_other(redis_url: str) -> None:
    taken: list[str] = []

    def take(row_id: str) -> bool:
        taken.append(row_id)
        return row_id != "cv_busy"

    async with ringing(redis_url) as wakeups:
        wakeups.offer_deliveries(take)
        for row_id in ("cv_1", "cv_busy", "cv_2"):
            wakeups.wake_delivery(row_id)
        wakeups.wake_turn("cv_1")
        await until_waiting(redis_url, 1)
    assert taken == ["cv_1", "cv_busy", "cv_2"]
    assert await waiting(redis_url, DELIVERY) == ["cv_busy"]


async def test_ringing_never_waits_and_never_fails_without_redis() -> None:
    async with ringing("redis://127.0.0.1:1/0") as wakeups:
        for number in range(2000):
            wakeups.wake_turn(f"cv_{number}")
    NoWakeups().wake_turn("cv")
    NoWakeups().wake_delivery("cv")


async def test_wakeups_resume_when_redis_is_back() -> None:
    async with private_valkey() as server, ringing(server.url) as wakeups:
        wakeups.wake_turn("cv_1")
        await until_waiting(server.url, 1)
        await server.stop()
        with capture_logs() as logs:
            wakeups.wake_turn("cv_lost")
            await eventually(lambda: "wakeup_lost" in [line["event"] for line in logs])
        await server.start()

        async def is_rung() -> bool:
            wakeups.wake_turn("cv_2")
            return "cv_2" in await waiting(server.url)

        await eventually(is_rung, "a wakeup that arrives")


async def test_an_id_that_waits_is_not_added_again_and_keeps_its_place(redis_url: str) -> None:
    async with ringing(redis_url) as wakeups:
        for row in ("cv_1", "cv_2", "cv_1", "cv_1"):
            wakeups.wake_turn(row)
            await wakeups.sent()  # it is sent
        assert await waiting(redis_url) == ["cv_1", "cv_2"]
        async with listening(redis_url) as heard:
            assert [await asyncio.wait_for(heard.get(), PATIENCE) for _ in range(2)] == ["cv_1", "cv_2"]
            wakeups.wake_turn("cv_1")
            assert await asyncio.wait_for(heard.get(), PATIENCE) == "cv_1", "it waits no more, so it rings again"
            assert heard.empty()


async def test_each_id_is_heard_by_one_of_several_listeners(redis_url: str) -> None:
    async with ringing(redis_url) as wakeups, listening(redis_url) as first, listening(redis_url) as second:
        for number in range(40):
            wakeups.wake_turn(f"cv_{number}")
        await eventually(lambda: first.qsize() + second.qsize() == 40)
        heard = [queue.get_nowait() for queue in (first, second) for _ in range(queue.qsize())]
    assert sorted(heard) == sorted(f"cv_{number}" for number in range(40))


async def test_a_listener_without_room_leaves_ids_to_another(redis_url: str) -> None:
    async with ringing(redis_url) as wakeups, listening(redis_url, ready=never) as full, listening(redis_url) as free:
        for number in range(5):
            wakeups.wake_turn(f"cv_{number}")
        heard = [await asyncio.wait_for(free.get(), PATIENCE) for _ in range(5)]
    assert sorted(heard) == [f"cv_{number}" for number in range(5)]
    assert full.empty()


async def test_a_ring_ends_the_wait_of_a_listener_at_once(redis_url: str) -> None:
    waits = []
    async with Redis.from_url(redis_url) as redis, ringing(redis_url) as wakeups, listening(redis_url) as heard:
        database = str(redis.connection_pool.connection_kwargs["db"])

        async def listens() -> bool:
            clients = await redis.client_list()
            return any((client["db"], client["cmd"]) == (database, "bzpopmin") for client in clients)

        for number in range(9):
            await eventually(listens, "a listener that waits")
            rings = time.perf_counter()
            wakeups.wake_turn(f"cv_{number}")
            await asyncio.wait_for(heard.get(), PATIENCE)
            waits.append(time.perf_counter() - rings)
    assert sorted(waits)[4] < LISTEN / 10, waits


async def test_a_ring_is_two_commands(redis_url: str) -> None:
    async with Redis.from_url(redis_url) as redis, ringing(redis_url) as wakeups, listening(redis_url) as heard:
        wakeups.wake_turn("cv_first")  # with which both connect
        await asyncio.wait_for(heard.get(), PATIENCE)
        # Other tests use the same server, but no other of its databases.
        async with redis.monitor() as monitor:
            for number in range(10):
                wakeups.wake_turn(f"cv_{number}")
                await asyncio.wait_for(heard.get(), PATIENCE)
            await redis.ping()
            commands = []
            async for entry in monitor.listen():
                if entry["db"] == redis.connection_pool.connection_kwargs["db"]:
                    commands.append(entry["command"].split()[0].upper())
                    if commands[-1] == "PING":
                        break
    assert commands.count("ZADD") == 10
    assert 10 <= commands.count("BZPOPMIN") <= 11
    assert set(commands) - {"AUTH", "CLIENT", "SELECT", "PING"} == {"ZADD", "BZPOPMIN"}, "none but that of our own look"


async def test_what_stands_in_a_queues_place_is_deleted_by_the_next_ring(redis_url: str) -> None:
    async with Redis.from_url(redis_url) as redis, ringing(redis_url) as wakeups:
        await redis.set(TURNS, "PWNED")
        wakeups.wake_turn("cv_1")

        async def is_healed() -> bool:
            return bool(await redis.type(TURNS) == b"zset")

        await eventually(is_healed, "a queue in its place")
        assert await waiting(redis_url) == ["cv_1"]
