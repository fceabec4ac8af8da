"""arq's worker, run in each worker process: it takes the jobs that came due, and has the ticks of what is periodic.

It hears of a job half a second late at most, and costs the hot path nothing: what is due now comes by a wakeup.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC

import structlog
from arq.connections import ArqRedis
from arq.worker import Worker
from redis.exceptions import RedisError

from core.queue.later import QUEUE, TAKING, open_pool
from core.queue.payloads import pack, unpack
from jobs.later.cron import Chores
from jobs.later.functions import RING, Ring, functions

LOOK = 0.5
"""Seconds between two looks at the queue."""
AT_ONCE = 100
"""Jobs that are taken with one look: each only rings."""
SILENT = 5.0
"""Seconds until a Redis that says nothing counts as away."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class LaterWorker:
    """Ring what has come due, and the chores whose tick has come."""

    redis_url: str
    ring: Ring
    chores: Chores

    async def run(self) -> None:
        """Run arq's worker in this loop until it fails or is cancelled, and close what it opened.

        It fails where Redis is away, with `RedisError`, `OSError` or `TimeoutError`, for its supervisor to start it
        again.
        """
        pool = open_pool(self.redis_url, TAKING, socket_timeout=SILENT)
        try:
            await pool.ping()
            await self._work(pool)
        except (RedisError, OSError, TimeoutError):
            self.chores.ring_overdue()
            raise
        finally:
            with suppress(RedisError, OSError, TimeoutError):
                async with asyncio.timeout(2):
                    await pool.aclose(close_connection_pool=True)

    async def _work(self, pool: ArqRedis) -> None:
        worker = Worker(
            functions(),
            cron_jobs=self.chores.cron_jobs(),
            queue_name=QUEUE,
            redis_pool=pool,
            handle_signals=False,
            poll_delay=LOOK,
            max_jobs=AT_ONCE,
            max_tries=1,
            keep_result=0,
            log_results=False,
            timezone=UTC,
            ctx={RING: self.ring},
            job_serializer=pack,
            job_deserializer=unpack,
        )
        try:
            await worker.async_run()
        finally:
            tasks = set(worker.tasks.values())
            for task in tasks:
                task.cancel()
            if tasks:
                ended, _ = await asyncio.wait(tasks, timeout=2)
                for task in ended:
                    # arq reports the end of a job to the Redis that has gone: expected, and of no consequence.
                    if not task.cancelled() and (error := task.exception()):
                        _log.debug("job_not_ended", cause=type(error).__name__)
