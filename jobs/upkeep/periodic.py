"""Work that a worker repeats for as long as it lives."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from core.errors import StoreUnavailable

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Periodic:
    """Call `once`, then wait for about `every` or until `look` is called, again and again.

    While the database is away the work is skipped until its next time. What else `once` raises ends `run`, and the
    supervisor starts it again.
    """

    name: str
    every: timedelta
    once: Callable[[], Awaitable[object]]
    due: str | None = None
    """What tells that it has something to do, so that it need not be done often."""
    _asked: asyncio.Event = field(default_factory=asyncio.Event)

    def look(self) -> None:
        """Do the work now instead of at its next time."""
        self._asked.set()

    async def run(self) -> None:
        """Repeat the work until cancelled."""
        while True:
            try:
                await self.once()
            except StoreUnavailable as error:
                _log.warning("upkeep_delayed", part=self.name, cause=str(error))
            # Jitter keeps the workers of one installation from asking the database at the same moment.
            with suppress(TimeoutError):
                async with asyncio.timeout(self.every.total_seconds() * (0.75 + random.random() / 2)):
                    await self._asked.wait()
            self._asked.clear()
