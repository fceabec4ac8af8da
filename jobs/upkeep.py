"""Upkeep: what has to be looked after from time to time, whoever does it; every worker may."""

import asyncio
from collections.abc import Awaitable, Callable

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
            while ended := await self._pool.expire(self._clock.now()):
                _log.info("agents_expired", count=ended)
        except StoreUnavailable as error:
            _log.warning("upkeep_delayed", cause=str(error))


def together(*works: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    """Give several endless works as one; where one fails, all end with it."""

    async def run() -> None:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(_awaited(work))

    return run


async def _awaited(work: Callable[[], Awaitable[None]]) -> None:
    await work()
