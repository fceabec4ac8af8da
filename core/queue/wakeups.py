"""Wakeups: tell workers that a row waits for them. They carry ids, never truth; a lost wakeup costs three seconds.

Each queue is a sorted set in Redis: ids by the time of their first wakeup. An id that waits there is not added again,
and a single worker takes it as soon as it comes. A worker with a free slot delivers the replies of its own turns
without going through Redis.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Protocol, override

import structlog
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from core.db.redis_client import redis_client
from core.queue.redis_sender import RedisSender

TURNS = "onevalet:wake:turns"
DELIVERY = "onevalet:wake:delivery"
MEMORY = "onevalet:wake:memory"
STOPS = "onevalet:stops"
"""Broadcast to all workers, since the sender does not know which worker runs the turn; never stored."""

LISTEN = 10.0
"""Seconds for which Redis may block while a queue is empty; then the request is repeated."""
SILENT = 5.0
"""Seconds beyond that after which a silent Redis counts as away."""
_MAX_AT_ONCE = 100

_log = structlog.get_logger()


class Later(Protocol):
    """Makes a worker claim a row at its moment. Never raises, never waits for the network."""

    def come_due(self, work: str, row_id: str, after: timedelta) -> None:
        """Name a row of a kind of work (core.queue.due) that is due after a time; with an empty id, any row."""
        ...


class Wakeups(Later, Protocol):
    """Wake a worker for a row, now or later. Never raises, never waits for the network."""

    def wake_turn(self, lane_id: str) -> None: ...

    def wake_delivery(self, conversation_id: str) -> None: ...

    def wake(self, queue: str, row_id: str) -> None:
        """Wake a worker that takes the rows of a queue, such as those of an ability's `ClaimedWork`."""
        ...

    def interrupt_turn(self, lane_id: str) -> None:
        """Tell the worker of the lane's turn that the person asked to stop, or wrote something that interrupts it."""
        ...


class NoWakeups:
    """No wakeups: the watch over due work (core.queue.due) finds everything."""

    def wake_turn(self, lane_id: str) -> None: ...

    def wake_delivery(self, conversation_id: str) -> None: ...

    def wake(self, queue: str, row_id: str) -> None: ...

    def interrupt_turn(self, lane_id: str) -> None: ...

    def come_due(self, work: str, row_id: str, after: timedelta) -> None: ...


NOBODY = NoWakeups()


class RedisWakeups(RedisSender[Redis, tuple[str, str]]):
    """Wake workers through Redis, never while a caller waits."""

    def __init__(self, redis_url: str) -> None:
        super().__init__(redis_url, "wakeup", at_once=_MAX_AT_ONCE)
        self._take_delivery: Callable[[str], bool] | None = None
        self._later: Later = NOBODY

    def queue_later(self, later: Later) -> None:
        """Use this for rows that are due later; a process without it, such as `web`, leaves them to the watch."""
        self._later = later

    def come_due(self, work: str, row_id: str, after: timedelta) -> None:
        self._later.come_due(work, row_id, after)

    def offer_deliveries(self, take: Callable[[str], bool]) -> None:
        """Offer each delivery to this process first: if `take` returns False, another worker is woken."""
        self._take_delivery = take

    def wake_turn(self, lane_id: str) -> None:
        self._put((TURNS, lane_id))

    def wake_delivery(self, conversation_id: str) -> None:
        if self._take_delivery is None or not self._take_delivery(conversation_id):
            self._put((DELIVERY, conversation_id))

    def wake(self, queue: str, row_id: str) -> None:
        self._put((queue, row_id))

    def interrupt_turn(self, lane_id: str) -> None:
        self._put((STOPS, lane_id))

    @override
    def _connect(self, url: str) -> Redis:
        return connect(url)

    @override
    async def _send(self, client: Redis, items: Sequence[tuple[str, str]]) -> None:
        queues: dict[str, list[str]] = {}
        for queue, row_id in items:
            queues.setdefault(queue, []).append(row_id)
        for queue, row_ids in queues.items():
            await _send_to(client, queue, row_ids)


async def _send_to(redis: Redis, queue: str, row_ids: Sequence[str]) -> None:
    if queue == STOPS:
        for row_id in row_ids:
            await redis.publish(STOPS, row_id)
        return
    # `nx`: an id that waits already keeps its earlier place.
    scores = dict.fromkeys(row_ids, time.time())
    try:
        await redis.zadd(queue, scores, nx=True)
    except ResponseError as error:
        if "WRONGTYPE" not in str(error):
            raise
        # A key of another type in the queue's place would keep every wakeup out, and holds none.
        _log.warning("queue_healed", queue=queue)
        await redis.delete(queue)
        await redis.zadd(queue, scores, nx=True)


async def listen(redis_url: str, queue: str, ready: "Ready", ring: Callable[[str], None]) -> None:
    """Call `ring` with each id of a queue as it comes, once `ready` has returned; each id reaches a single worker.

    Raises `RedisError`, `OSError` or `TimeoutError` if Redis is away.
    """
    async with connect(redis_url) as redis:
        while True:
            await ready()
            async with asyncio.timeout(LISTEN + SILENT):
                popped = await redis.bzpopmin(queue, LISTEN)
            if popped is not None:
                ring(popped[1].decode())


async def hear_interrupts(redis_url: str, look: Callable[[str], Awaitable[None]]) -> None:
    """Call `look` with each lane whose turn may have to stop.

    Raises `RedisError`, `OSError` or `TimeoutError` if Redis is away.
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
    """Return once there is room for another id."""

    async def __call__(self) -> None: ...


def connect(url: str) -> Redis:
    """Return a client that gives up quickly, since its callers try again."""
    return redis_client(url, socket_connect_timeout=2)
