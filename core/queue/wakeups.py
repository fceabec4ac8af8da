"""Wakeups: tell workers that a row waits for them. They carry ids, never truth; a lost one costs three seconds.

Each queue is a sorted set in Redis: ids by the time of their first wakeup. An id that waits there is not added again,
one worker takes it, and that worker takes it in the moment in which it comes. A worker with a free slot delivers
what its own turns say, without a way through Redis.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Protocol

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from core.db.redis_client import redis_client

TURNS = "onevalet:wake:turns"
DELIVERY = "onevalet:wake:delivery"
MEMORY = "onevalet:wake:memory"
STOPS = "onevalet:stops"
"""Told to all workers, since nobody knows whose turn it is, and kept for none."""

LISTEN = 10.0
"""Seconds for which Redis holds the question for the next id; it is then asked again."""
SILENT = 5.0
"""Seconds past that until a Redis that says nothing counts as away."""
_MAX_AT_ONCE = 100

_log = structlog.get_logger()


class Later(Protocol):
    """Have a worker claim a row at its moment. Never raises, never waits for the network."""

    def come_due(self, work: str, row_id: str, after: timedelta) -> None:
        """Name a row of a kind of work (core.queue.due) that is due after so long; without an id, any of them."""
        ...


class Wakeups(Later, Protocol):
    """Wake a worker for a row, now or later. Never raises, never waits for the network."""

    def wake_turn(self, lane_id: str) -> None: ...

    def wake_delivery(self, conversation_id: str) -> None: ...

    def wake_memory(self, job_id: str) -> None: ...

    def interrupt_turn(self, lane_id: str) -> None:
        """Tell the worker that runs the lane's turn that its person asked to stop, or wrote what interrupts it."""
        ...


class NoWakeups:
    """No wakeups: the watch over what is due (core.queue.due) finds everything."""

    def wake_turn(self, lane_id: str) -> None: ...

    def wake_delivery(self, conversation_id: str) -> None: ...

    def wake_memory(self, job_id: str) -> None: ...

    def interrupt_turn(self, lane_id: str) -> None: ...

    def come_due(self, work: str, row_id: str, after: timedelta) -> None: ...


NOBODY = NoWakeups()


class RedisWakeups:
    """Wake workers through Redis, from a task of its own, so that no caller waits for Redis."""

    def __init__(self, redis_url: str) -> None:
        self._url = redis_url
        self._redis: Redis | None = None
        self._pending: asyncio.Queue[tuple[str, str]] = asyncio.Queue(maxsize=1000)
        self._task: asyncio.Task[None] | None = None
        self._take_delivery: Callable[[str], bool] | None = None
        self._later: Later = NOBODY

    def queue_later(self, later: Later) -> None:
        """Queue by this what is due later. Processes without it, as `web` is, leave that to the workers' watch."""
        self._later = later

    def come_due(self, work: str, row_id: str, after: timedelta) -> None:
        self._later.come_due(work, row_id, after)

    def offer_deliveries(self, take: Callable[[str], bool]) -> None:
        """Offer each delivery to this process first: what `take` does not take wakes another one."""
        self._take_delivery = take

    def wake_turn(self, lane_id: str) -> None:
        self._put(TURNS, lane_id)

    def wake_delivery(self, conversation_id: str) -> None:
        if self._take_delivery is None or not self._take_delivery(conversation_id):
            self._put(DELIVERY, conversation_id)

    def wake_memory(self, job_id: str) -> None:
        self._put(MEMORY, job_id)

    def interrupt_turn(self, lane_id: str) -> None:
        self._put(STOPS, lane_id)

    async def start(self) -> None:
        """Start sending; Redis need not be there yet."""
        self._task = asyncio.create_task(self._run(), name="wakeups")

    async def stop(self) -> None:
        """Send what is left, for a second at most, and close."""
        if self._task is None:
            return
        try:
            async with asyncio.timeout(1):
                await self._pending.join()
        except TimeoutError:
            _log.info("wakeups_closed_with_some_left", count=self._pending.qsize())
        self._task.cancel()
        await asyncio.wait([self._task])
        await self._close()

    def _put(self, queue: str, row_id: str) -> None:
        try:
            self._pending.put_nowait((queue, row_id))
        except asyncio.QueueFull:
            _log.info("wakeup_dropped", queue=queue)

    async def _run(self) -> None:
        while True:
            wakeups = [await self._pending.get()]
            while len(wakeups) < _MAX_AT_ONCE and not self._pending.empty():
                wakeups.append(self._pending.get_nowait())
            queues: dict[str, list[str]] = {}
            for queue, row_id in wakeups:
                queues.setdefault(queue, []).append(row_id)
            try:
                async with asyncio.timeout(2):
                    for queue, row_ids in queues.items():
                        await self._send(queue, row_ids)
            except Exception as error:
                # The outermost loop: whatever goes wrong costs these wakeups, and the next ones are tried.
                _log.warning("wakeup_lost", queues=sorted(queues), count=len(wakeups), cause=type(error).__name__)
                await self._close()
            finally:
                for _ in wakeups:
                    self._pending.task_done()

    async def _send(self, queue: str, row_ids: list[str]) -> None:
        if self._redis is None:
            self._redis = connect(self._url)
        if queue == STOPS:
            for row_id in row_ids:
                await self._redis.publish(STOPS, row_id)
            return
        # A later wakeup of an id that waits already is none: `nx` keeps the earlier one's place.
        scores = dict.fromkeys(row_ids, time.time())
        try:
            await self._redis.zadd(queue, scores, nx=True)
        except ResponseError as error:
            if "WRONGTYPE" not in str(error):
                raise
            # Something else stands in the queue's place: it would keep every wakeup away, and holds none.
            _log.warning("queue_healed", queue=queue)
            await self._redis.delete(queue)
            await self._redis.zadd(queue, scores, nx=True)

    async def _close(self) -> None:
        redis, self._redis = self._redis, None
        if redis is None:
            return
        try:
            async with asyncio.timeout(1):
                await redis.aclose()
        except (RedisError, OSError, TimeoutError) as error:
            _log.info("wakeups_close_failed", cause=type(error).__name__)


async def listen(redis_url: str, queue: str, ready: "Ready", ring: Callable[[str], None]) -> None:
    """Ring for each id of a queue as it comes, the next only once `ready` returns; each id rings in one worker.

    Raises `RedisError`, `OSError` or `TimeoutError` where Redis is away.
    """
    async with connect(redis_url) as redis:
        while True:
            await ready()
            async with asyncio.timeout(LISTEN + SILENT):
                popped = await redis.bzpopmin(queue, LISTEN)
            if popped is not None:
                ring(popped[1].decode())


async def hear_interrupts(redis_url: str, look: Callable[[str], Awaitable[None]]) -> None:
    """Look at each lane whose person asked to stop.

    Raises `RedisError`, `OSError` or `TimeoutError` where Redis is away.
    """
    async with connect(redis_url) as redis, redis.pubsub(ignore_subscribe_messages=True) as stops:
        await stops.subscribe(STOPS)
        while True:
            async with asyncio.timeout(LISTEN + SILENT):
                while (told := await stops.get_message(timeout=LISTEN)) is None:
                    await stops.ping()  # a connection that is gone answers nothing, not even an error
            if told["type"] == "message":
                await look(told["data"].decode())


class Ready(Protocol):
    """Return once there is room for one more."""

    async def __call__(self) -> None: ...


def connect(url: str) -> Redis:
    """Return a client that is quick to give up, since callers try again by themselves."""
    return redis_client(url, socket_connect_timeout=2)
