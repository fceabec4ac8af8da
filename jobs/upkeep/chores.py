"""Chores: rare work that one worker does for all of them, as cron jobs of arq's Worker.

arq lets one worker have each; a chore that is missed, or that its worker dies of, is done the next time. While Redis
is away nobody does them, which costs nothing but disk space.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Any, cast

import structlog
from arq.connections import ArqRedis
from arq.cron import CronJob, cron
from arq.typing import WorkerCoroutine
from arq.worker import Worker
from redis.exceptions import RedisError

from core.db.redis_client import client_of
from core.errors import StoreUnavailable
from core.queue.payloads import pack, unpack
from jobs.upkeep.periodic import Periodic

QUEUE = "onevalet:chores"
LOOK = 15.0
"""Seconds between two looks at the queue: a chore begins that late at most."""
TIMEOUT = timedelta(minutes=5)

_log = structlog.get_logger()


async def run_chores(redis_url: str, chores: Iterable[Periodic]) -> None:
    """Run arq's worker in this loop until it fails or is cancelled, and close what it opened."""
    pool = client_of(ArqRedis, redis_url, socket_connect_timeout=2)
    # JSON, never pickle, whose reader runs what a writer wants.
    pool.job_serializer, pool.job_deserializer, pool.default_queue_name = pack, unpack, QUEUE
    await pool.ping()  # who is away now is tried again by the supervisor
    worker = Worker(
        cron_jobs=[_job(chore) for chore in chores],
        queue_name=QUEUE,
        redis_pool=pool,
        handle_signals=False,
        poll_delay=LOOK,
        max_tries=1,
        log_results=False,
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
                    _log.debug("chore_not_ended", cause=type(error).__name__)
        with suppress(RedisError, OSError, TimeoutError):
            async with asyncio.timeout(2):
                await pool.aclose(close_connection_pool=True)


def _job(chore: Periodic) -> CronJob:
    """Return a cron job for a chore, which is due each so many minutes of an hour."""

    async def do(_context: dict[str, Any]) -> None:
        try:
            await chore.once()
        except StoreUnavailable as error:
            _log.warning("chore_skipped", chore=chore.name, cause=str(error))
        except Exception:
            # arq would log it with what it knows of the job, and go on as well.
            _log.exception("chore_failed", chore=chore.name)

    minutes = max(int(chore.every / timedelta(minutes=1)), 1)
    # A chore's name is its job's id with the time, of which arq lets one worker have each.
    return cron(cast(WorkerCoroutine, do), name=chore.name, minute=set(range(0, 60, minutes)), timeout=TIMEOUT)
