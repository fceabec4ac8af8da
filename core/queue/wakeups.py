"""Wakeups: tell workers that a row waits for them. They carry ids, never truth; a lost one costs a second.

arq jobs say what to look at; a pub/sub message makes workers look at once instead of at their next poll.
"""

import asyncio
from typing import Protocol

import structlog
from arq.connections import ArqRedis, RedisSettings
from arq.connections import create_pool as create_arq_pool
from redis.exceptions import RedisError, ResponseError

from core.queue.payloads import pack, unpack

TURNS = "onevalet:turns"
DELIVERY = "onevalet:delivery"
MEMORY = "onevalet:memory"
WAKEUPS = "onevalet:wakeups"
"""The pub/sub channel; its messages are the names of the queues that got something."""

RUN_LANE = "run_lane"
DELIVER = "deliver"
REMEMBER = "remember"

_log = structlog.get_logger()


class Wakeups(Protocol):
    """Wake a worker for a row. Never raises, never waits for the network."""

    def wake_turn(self, lane_id: str) -> None: ...

    def wake_delivery(self, conversation_id: str) -> None: ...

    def wake_memory(self, job_id: str) -> None: ...


class NoWakeups:
    """No wakeups: the slow poll finds everything."""

    def wake_turn(self, lane_id: str) -> None: ...

    def wake_delivery(self, conversation_id: str) -> None: ...

    def wake_memory(self, job_id: str) -> None: ...


class RedisWakeups:
    """Wake workers through Redis, from a task of its own, so that no caller waits for Redis."""

    def __init__(self, redis_url: str) -> None:
        self._url = redis_url
        self._redis: ArqRedis | None = None
        self._pending: asyncio.Queue[tuple[str, str, str]] = asyncio.Queue(maxsize=1000)
        self._task: asyncio.Task[None] | None = None

    def wake_turn(self, lane_id: str) -> None:
        self._put(TURNS, RUN_LANE, lane_id)

    def wake_delivery(self, conversation_id: str) -> None:
        self._put(DELIVERY, DELIVER, conversation_id)

    def wake_memory(self, job_id: str) -> None:
        self._put(MEMORY, REMEMBER, job_id)

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

    def _put(self, queue: str, job: str, row_id: str) -> None:
        try:
            self._pending.put_nowait((queue, job, row_id))
        except asyncio.QueueFull:
            _log.info("wakeup_dropped", queue=queue)

    async def _run(self) -> None:
        while True:
            queue, job, row_id = await self._pending.get()
            try:
                async with asyncio.timeout(2):
                    await self._send(queue, job, row_id)
            except Exception as error:
                # The outermost loop: whatever goes wrong costs this wakeup, and the next one is tried.
                _log.warning("wakeup_lost", queue=queue, cause=type(error).__name__)
                await self._close()
            finally:
                self._pending.task_done()

    async def _send(self, queue: str, job: str, row_id: str) -> None:
        redis = await self._connect()
        try:
            await redis.enqueue_job(job, row_id, _queue_name=queue)
        except ResponseError as error:
            if "WRONGTYPE" not in str(error):
                raise
            # Something else stands in the queue's place: it would keep every wakeup away, and holds none.
            _log.warning("queue_healed", queue=queue)
            await redis.delete(queue)
            await redis.enqueue_job(job, row_id, _queue_name=queue)
        await redis.publish(WAKEUPS, queue)

    async def _connect(self) -> ArqRedis:
        if self._redis is None:
            self._redis = await create_arq_pool(redis_settings(self._url), job_serializer=pack, job_deserializer=unpack)
        return self._redis

    async def _close(self) -> None:
        redis, self._redis = self._redis, None
        if redis is None:
            return
        try:
            async with asyncio.timeout(1):
                await redis.aclose()
        except (RedisError, OSError, TimeoutError) as error:
            _log.info("wakeups_close_failed", cause=type(error).__name__)


def redis_settings(url: str) -> RedisSettings:
    """Return arq's settings for a URL: quick to give up, since callers try again by themselves."""
    settings = RedisSettings.from_dsn(url)
    settings.conn_retries = 0
    settings.conn_timeout = 2
    return settings
