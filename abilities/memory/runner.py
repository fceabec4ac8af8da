"""Memory's jobs: to extract memories from messages after the reply, and to maintain old memories."""

from datetime import datetime, timedelta

import structlog

from abilities.memory.jobs import LEASE, Job, MemoryWork
from core.clock import Clock
from core.errors import LeaseLost, StoreUnavailable
from core.queue.lease_keepalive import kept_alive

EMBEDDED_EVERY = timedelta(minutes=10)
"""Between two searches for memories without a vector, once there are none: each search reads all of them."""

_log = structlog.get_logger()


class MemoryRunner:
    """Claim memory's jobs and do them; a job that fails is due again later."""

    def __init__(self, work: MemoryWork, worker: str) -> None:
        self._work = work
        self._worker = worker

    async def claim(self, job_id: str | None) -> Job | None:
        """Claim the named job, or the job that has waited longest."""
        return await self._work.claim(job_id, self._worker)

    async def run(self, job: Job) -> None:
        """Do a job, and keep its lease alive meanwhile; while the database is away it waits for its lease to end."""
        try:
            async with kept_alive(lambda: self._work.keep(job), LEASE):
                await self._work.run(job)
        except LeaseLost:
            _log.info("memory_lease_lost", job=job.id)
        except StoreUnavailable as error:
            _log.warning("memory_delayed", job=job.id, cause=str(error))


class MemoryUpkeep:
    """Expire memories, redact forgotten words, and embed memories that the embedder in use has not embedded."""

    def __init__(self, work: MemoryWork, clock: Clock) -> None:
        self._work = work
        self._clock = clock
        self._embed_from: datetime | None = None

    async def once(self) -> None:
        now = await self._clock.sound_now()
        if now is None:
            return
        await self._work.tidy(now)
        await self._embed()

    async def _embed(self) -> None:
        now = self._clock.now()
        if self._embed_from is not None and now < self._embed_from:
            return
        count = await self._work.embed_again()
        self._embed_from = None if count else now + EMBEDDED_EVERY
        if count:
            _log.info("memory_embedded_again", count=count)
