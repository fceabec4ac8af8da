"""arq's worker, run in each worker process: it takes the jobs that come due, and the ticks of periodic work.

It takes a job at most half a second late, and costs the hot path nothing: wakeups announce work that is due now.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC

import structlog
from arq.connections import ArqRedis
from arq.worker import Worker
from redis.exceptions import RedisError

from core.queue.payloads import pack, unpack
from jobs.later.cron import Chores
from jobs.later.functions import RING, Ring, functions
from jobs.later.queueing import QUEUE, TAKING, open_pool

LOOK = 0.5
"""Seconds between two looks at the queue."""
AT_ONCE = 100
"""Jobs that are taken at a time: each only rings."""
SILENT = 5.0
"""Seconds after which a silent Redis counts as away."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class LaterWorker:
    """Ring for rows that have come due, and for chores whose tick has come."""

    redis_url: str
    ring: Ring
    chores: Chores

    async def run(self) -> None:
        """Run arq's worker in this loop until it fails or is cancelled, and close its connections.

        While Redis is away it fails with `RedisError`, `OSError` or `TimeoutError`; its supervisor starts it again.
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
