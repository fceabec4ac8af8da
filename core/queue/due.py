"""Due work: a query for all of a worker's work, repeated every few seconds and whenever there may be news.

It finds work whose wakeup, or whose arq job for a later moment, was lost.
"""

import asyncio
import random
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum

import structlog

from core.clock import Clock
from core.db.database import Database
from core.errors import StoreUnavailable

LOOK = 2.5
"""Seconds between two queries without news. With the jitter of a quarter, the longest delay by a lost wakeup."""
SOON = 0.5
"""Seconds between news and the query that follows. The query serves all news of that time, so a busy worker, which
always has news, queries twice a second."""
ASK_ANYWAY = 60.0
"""Seconds after which each kind of work looks for rows by itself, even if the query returned none."""

_log = structlog.get_logger()


class DueWork(StrEnum):
    """The spine's kinds of work in `what_is_due`; abilities name their own."""

    TURNS = "turns"
    DELIVERIES = "deliveries"
    REDRAWS = "redraws"
    QUARANTINE = "quarantine"
    NOTIFICATIONS = "notifications"
    APPROVALS = "approvals"
    AGENTS = "agents"


_BY_PEOPLES_CLOCK = frozenset[str]({DueWork.AGENTS})


class DueWatch:
    """Query the due work and call the callbacks for it. Each worker has a single watch."""

    def __init__(self, database: Database, clock: Clock, every: float = LOOK) -> None:
        self._database = database
        self._clock = clock
        self._every = every
        self._calls: dict[str, list[Callable[[], None]]] = {}
        self._by_peoples_clock = set(_BY_PEOPLES_CLOCK)
        self._news = asyncio.Event()

    def call(self, work: str, call: Callable[[], None], *, by_peoples_clock: bool = False) -> None:
        """Register a callback for a kind of work; it must return at once. `by_peoples_clock`: due by people's time."""
        self._calls.setdefault(work, []).append(call)
        if by_peoples_clock:
            self._by_peoples_clock.add(work)

    def tell(self, work: str) -> None:
        """Call the callbacks for a kind of work."""
        for call in self._calls.get(work, ()):
            call()

    def look(self) -> None:
        """Query soon: work that was done here may have made other work due."""
        self._news.set()

    async def run(self) -> None:
        """Query until cancelled, the first time at once."""
        while True:
            try:
                pause = await self.once()
            except StoreUnavailable as error:
                _log.warning("due_unknown", cause=str(error))
                pause = self._every
            # Workers that query at different moments find new work sooner than a single worker does.
            pause = min(pause, self._every * (0.75 + random.random() / 2))
            try:
                async with asyncio.timeout(pause):
                    await self._news.wait()
                await asyncio.sleep(SOON)
            except TimeoutError:
                pass
            self._news.clear()

    async def once(self) -> float:
        """Call the callbacks for due work; return the seconds until more is due. Raises `StoreUnavailable`."""
        now = await self._clock.sound_now()
        soonest = self._every
        for row in await self._database.rows("select * from what_is_due($1)", now):
            wait = self._real_seconds(row["work"], row["wait"], now)
            if wait > 0:
                soonest = min(soonest, wait + 0.001)
                continue
            self.tell(row["work"])
        return soonest

    def _real_seconds(self, work: str, wait: float, now: datetime | None) -> float:
        """Convert a wait to the machine's clock: people's clock may run faster, or stand still."""
        if wait > 0 and now is not None and work in self._by_peoples_clock:
            return self._clock.real_seconds(wait)
        return wait
