"""Upkeep: what has to be looked after from time to time, whoever does it; every worker may."""

import asyncio

import structlog

from core.agents.pool import Pool
from core.clock import Clock
from core.errors import StoreUnavailable

EVERY = 15.0
"""Seconds between two looks."""

_log = structlog.get_logger()


class Upkeep:
    """End what has waited too long in the pool."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def run(self) -> None:
        """Look after it for ever; a database that is away is asked again the next time."""
        while True:
            await self.once()
            await asyncio.sleep(EVERY)

    async def once(self) -> None:
        """Look once."""
        try:
            while now := await self._clock.sound_now():
                if not (ended := await self._pool.expire(now)):
                    break
                _log.info("agents_expired", count=ended)
        except StoreUnavailable as error:
            _log.warning("upkeep_delayed", cause=str(error))
