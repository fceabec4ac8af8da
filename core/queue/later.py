"""Later: a row whose moment is known is a deferred job of arq's, by which a worker claims it then.

Jobs carry ids, never truth. One that is lost, late or doubled changes nothing: each claim is a row's, and the watch
over what is due (core.queue.due) finds what no job named.
"""

import asyncio
import math
import time
from datetime import UTC, datetime, timedelta

import structlog
from arq.connections import ArqRedis
from redis.exceptions import RedisError

from core.db.redis_client import client_of
from core.queue.payloads import pack, unpack

QUEUE = "onevalet:later"
COME_DUE = "come_due"
"""The function of the jobs (jobs.later.functions)."""
TAKING, QUEUEING = "onevalet-later", "onevalet-queueing"
"""What Redis lists the connections as of arq's workers, and of those who queue."""
HORIZON = timedelta(days=1)
"""What is further away is queued when it is nearer, so that Redis holds little and a loss of it costs little."""
TICK = 0.1
"""Seconds: moments are rounded up to these, and a row has one job for each."""
_MARGIN = 0.05
"""Seconds past its moment that a row is claimed: one that is not due yet would cost the job."""
_SECONDS = 2.0
"""How long Redis may take."""
_AWAY = 2.0
"""Seconds for which nothing is queued once it did not answer."""

_log = structlog.get_logger()


def open_pool(redis_url: str, name: str, **options: object) -> ArqRedis:
    """Return arq's client, whose connections have this name.

    It reads and writes JSON, never pickle, whose reader runs what a writer wants.
    """
    pool = client_of(ArqRedis, redis_url, client_name=name, socket_connect_timeout=_SECONDS, **options)
    pool.job_serializer, pool.job_deserializer, pool.default_queue_name = pack, unpack, QUEUE
    return pool


class LaterJobs:
    """Queue jobs from a task of its own, so that no caller waits for Redis."""

    def __init__(self, redis_url: str) -> None:
        self._url = redis_url
        self._pool: ArqRedis | None = None
        self._pending: asyncio.Queue[tuple[str, str, float]] = asyncio.Queue(maxsize=1000)
        self._away_until = 0.0
        self._task: asyncio.Task[None] | None = None

    def come_due(self, work: str, row_id: str, after: timedelta) -> None:
        """Have a row of this kind of work claimed after so long. Never raises, never waits for the network."""
        if after > HORIZON or time.monotonic() < self._away_until:
            return
        moment = time.time() + max(after.total_seconds(), 0.0) + _MARGIN
        try:
            self._pending.put_nowait((work, row_id, math.ceil(moment / TICK) * TICK))
        except asyncio.QueueFull:
            _log.info("later_dropped", work=work)

    async def start(self) -> None:
        """Start queueing; Redis need not be there yet."""
        self._task = asyncio.create_task(self._run(), name="later")

    async def stop(self) -> None:
        """Queue what is left, for a second at most, and close."""
        if self._task is None:
            return
        try:
            async with asyncio.timeout(1):
                await self._pending.join()
        except TimeoutError:
            _log.info("later_closed_with_some_left", count=self._pending.qsize())
        self._task.cancel()
        await asyncio.wait([self._task])
        await self._close()

    async def _run(self) -> None:
        while True:
            work, row_id, moment = await self._pending.get()
            try:
                if time.monotonic() >= self._away_until:
                    async with asyncio.timeout(_SECONDS):
                        await self._queue(work, row_id, moment)
            except Exception as error:
                # The outermost loop: whatever goes wrong costs the jobs of this moment, and later ones are queued.
                self._away_until = time.monotonic() + _AWAY
                _log.warning("later_lost", work=work, cause=type(error).__name__)
                await self._close()
            finally:
                self._pending.task_done()

    async def _queue(self, work: str, row_id: str, moment: float) -> None:
        if self._pool is None:
            self._pool = open_pool(self._url, QUEUEING)
        # arq takes no second job of an id that it holds.
        job_id = f"{work}:{row_id}:{round(moment / TICK)}"
        await self._pool.enqueue_job(
            COME_DUE, work, row_id, _job_id=job_id, _defer_until=datetime.fromtimestamp(moment, UTC)
        )

    async def _close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            async with asyncio.timeout(1):
                await pool.aclose(close_connection_pool=True)
        except (RedisError, OSError, TimeoutError) as error:
            _log.info("later_close_failed", cause=type(error).__name__)
