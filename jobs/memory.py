"""Memory's jobs: after the reply, one at a time, what was said becomes memories."""

import asyncio
from datetime import datetime, timedelta

import structlog

from core.clock import Clock
from core.errors import StoreUnavailable
from core.memory.jobs import Job, MemoryWork

EVERY = 30.0
"""Seconds between two looks at what has run out or is still to be blotted out."""
EMBEDDED = timedelta(minutes=10)
"""Between two looks for memories without a vector, once there are none: that look reads all of them."""

_log = structlog.get_logger()


class MemoryRunner:
    """Claim and do memory's jobs; what fails comes back later by itself."""

    def __init__(self, work: MemoryWork, worker: str) -> None:
        self._work = work
        self._worker = worker

    async def claim(self, job_id: str | None) -> Job | None:
        """Take the named job, or the one that waits longest."""
        return await self._work.claim(job_id, self._worker)

    async def run(self, job: Job) -> None:
        """Do a job; while the database is away it waits for its lease to end."""
        try:
            await self._work.run(job)
        except StoreUnavailable as error:
            _log.warning("memory_delayed", job=job.id, cause=str(error))


class MemoryUpkeep:
    """End what has run out, blot out what was forgotten, and embed what the embedder in use has not embedded."""

    def __init__(self, work: MemoryWork, clock: Clock) -> None:
        self._work = work
        self._clock = clock
        self._embed_from: datetime | None = None

    async def run(self) -> None:
        """Look after it for ever; a database that is away is asked again the next time."""
        while True:
            await self.once()
            await asyncio.sleep(EVERY)

    async def once(self) -> None:
        """Look once."""
        try:
            now = await self._clock.sound_now()
            if now is None:
                return
            await self._work.tidy(now)
            await self._embed()
        except StoreUnavailable as error:
            _log.warning("memory_upkeep_delayed", cause=str(error))

    async def _embed(self) -> None:
        now = self._clock.now()
        if self._embed_from is not None and now < self._embed_from:
            return
        count = await self._work.embed_again()
        self._embed_from = None if count else now + EMBEDDED
        if count:
            _log.info("memory_embedded_again", count=count)
