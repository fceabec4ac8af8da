"""Work that a worker repeats for as long as it lives."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog

from core.errors import StoreUnavailable

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Periodic:
    """Call `once`, then wait for about `every`, again and again.

    While the database is away the work is skipped until its next time. What else `once` raises ends `run`, and the
    supervisor starts it again.
    """

    name: str
    every: timedelta
    once: Callable[[], Awaitable[object]]

    async def run(self) -> None:
        """Repeat the work until cancelled."""
        while True:
            try:
                await self.once()
            except StoreUnavailable as error:
                _log.warning("upkeep_delayed", part=self.name, cause=str(error))
            # Jitter keeps the workers of one installation from asking the database at the same moment.
            await asyncio.sleep(self.every.total_seconds() * (0.75 + random.random() / 2))
