"""The bell: tells workers that a row waits for them. It carries ids, never truth; a lost ring costs a second.

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
RINGS = "onevalet:rings"
"""The pub/sub channel; its messages are the names of the queues that got something."""

RUN_LANE = "run_lane"
DELIVER = "deliver"
REMEMBER = "remember"

_log = structlog.get_logger()


class Bell(Protocol):
    """Ring for a row. Never raises, never waits for the network."""

    def turn(self, lane_id: str) -> None: ...

    def delivery(self, conversation_id: str) -> None: ...

    def memory(self, job_id: str) -> None: ...


class SilentBell:
    """No bell: the slow poll finds everything."""

    def turn(self, lane_id: str) -> None:
        """Do nothing."""

    def delivery(self, conversation_id: str) -> None:
        """Do nothing."""

    def memory(self, job_id: str) -> None:
        """Do nothing."""


class RedisBell:
    """Ring through Redis, from a task of its own, so that nobody who rings waits for Redis."""

    def __init__(self, redis_url: str) -> None:
        self._url = redis_url
        self._redis: ArqRedis | None = None
        self._rings: asyncio.Queue[tuple[str, str, str]] = asyncio.Queue(maxsize=1000)
        self._task: asyncio.Task[None] | None = None

    def turn(self, lane_id: str) -> None:
        """Ring for a lane with waiting work."""
        self._put(TURNS, RUN_LANE, lane_id)

    def delivery(self, conversation_id: str) -> None:
        """Ring for a conversation with something to send."""
        self._put(DELIVERY, DELIVER, conversation_id)

    def memory(self, job_id: str) -> None:
        """Ring for something to remember."""
        self._put(MEMORY, REMEMBER, job_id)

    async def start(self) -> None:
        """Start ringing; Redis need not be there yet."""
        self._task = asyncio.create_task(self._run(), name="bell")

    async def stop(self) -> None:
        """Ring what is left, for a second at most, and close."""
        if self._task is None:
            return
        try:
            async with asyncio.timeout(1):
                await self._rings.join()
        except TimeoutError:
            _log.info("bell_closed_with_rings_left", count=self._rings.qsize())
        self._task.cancel()
        await asyncio.wait([self._task])
        await self._close()

    def _put(self, queue: str, job: str, row_id: str) -> None:
        try:
            self._rings.put_nowait((queue, job, row_id))
        except asyncio.QueueFull:
            _log.info("ring_dropped", queue=queue)

    async def _run(self) -> None:
        while True:
            queue, job, row_id = await self._rings.get()
            try:
                async with asyncio.timeout(2):
                    await self._ring(queue, job, row_id)
            except Exception as error:
                # The outermost loop of ringing: whatever goes wrong costs this ring, and the next is tried anew.
                _log.warning("ring_lost", queue=queue, cause=type(error).__name__)
                await self._close()
            finally:
                self._rings.task_done()

    async def _ring(self, queue: str, job: str, row_id: str) -> None:
        redis = await self._connect()
        try:
            await redis.enqueue_job(job, row_id, _queue_name=queue)
        except ResponseError as error:
            if "WRONGTYPE" not in str(error):
                raise
            # Something else stands in the queue's place: it would keep every ring away, and holds none.
            _log.warning("queue_healed", queue=queue)
            await redis.delete(queue)
            await redis.enqueue_job(job, row_id, _queue_name=queue)
        await redis.publish(RINGS, queue)

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
            _log.info("bell_close_failed", cause=type(error).__name__)


def redis_settings(url: str) -> RedisSettings:
    """Give arq's settings for a URL: quick to give up, since callers try again by themselves."""
    settings = RedisSettings.from_dsn(url)
    settings.conn_retries = 0
    settings.conn_timeout = 2
    return settings
