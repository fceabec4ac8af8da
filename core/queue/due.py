"""What is due: one question for all of a worker's work, asked every few seconds and whenever there may be news.

It is the net under wakeups, which tell what is due now, and jobs of arq's, which tell what was to come due.
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
"""Seconds between two looks while nothing tells of work: what a lost wakeup costs at most, and a quarter more."""
SOON = 0.5
"""Seconds between news and the look that they cause: one look for all that comes meanwhile, so that a busy worker, to
which there are always news, looks twice a second."""
ASK_ANYWAY = 60.0
"""Seconds after which each kind of work looks for itself, whatever was due."""

_log = structlog.get_logger()


class DueWork(StrEnum):
    """The kinds of the spine's work that `what_is_due` knows; abilities name their own."""

    TURNS = "turns"
    DELIVERIES = "deliveries"
    REDRAWS = "redraws"
    QUARANTINE = "quarantine"
    NOTIFICATIONS = "notifications"
    APPROVALS = "approvals"
    AGENTS = "agents"


_BY_PEOPLES_CLOCK = frozenset[str]({DueWork.AGENTS})


class DueWatch:
    """Ask what is due, and call those who do it. Each worker has one."""

    def __init__(self, database: Database, clock: Clock, every: float = LOOK) -> None:
        self._database = database
        self._clock = clock
        self._every = every
        self._calls: dict[str, list[Callable[[], None]]] = {}
        self._by_peoples_clock = set(_BY_PEOPLES_CLOCK)
        self._news = asyncio.Event()

    def call(self, work: str, call: Callable[[], None], *, by_peoples_clock: bool = False) -> None:
        """Call this whenever such work is due, and say whether that goes by people's time; it returns at once."""
        self._calls.setdefault(work, []).append(call)
        if by_peoples_clock:
            self._by_peoples_clock.add(work)

    def tell(self, work: str) -> None:
        """Call those who do this kind of work: its moment has come."""
        for call in self._calls.get(work, ()):
            call()

    def look(self) -> None:
        """Look soon: something was done here that others may follow."""
        self._news.set()

    async def run(self) -> None:
        """Look again and again until cancelled; the first time at once."""
        while True:
            try:
                pause = await self.once()
            except StoreUnavailable as error:
                _log.warning("due_unknown", cause=str(error))
                pause = self._every
            # Workers that look at different moments find what is new sooner than any one of them.
            pause = min(pause, self._every * (0.75 + random.random() / 2))
            try:
                async with asyncio.timeout(pause):
                    await self._news.wait()
                await asyncio.sleep(SOON)
            except TimeoutError:
                pass
            self._news.clear()

    async def once(self) -> float:
        """Call those whose work is due; return the seconds until the next is. Raises `StoreUnavailable`."""
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
        """Return a wait by the machine's clock: people's may go faster, or stand still."""
        if wait > 0 and now is not None and work in self._by_peoples_clock:
            return self._clock.real_seconds(wait)
        return wait
