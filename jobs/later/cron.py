"""Periodic work as arq's cron jobs: each tick is a job that a single worker gets, and that rings the chore there.

The next tick makes up for a tick that is missed, or whose worker dies. While Redis is away there are no ticks; then
each worker rings its own chores, except for those that a single worker does for all.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple, cast

import structlog
from arq.cron import CronJob, cron
from arq.typing import WorkerCoroutine

from core.errors import StoreUnavailable
from jobs.later.functions import TIMEOUT

WITHIN = timedelta(minutes=5)
"""The time limit of a chore that a single worker does for all."""
_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Chore:
    """Work that is done about each `every`, and whenever it is rung.

    While the database is away it is skipped until its next time. Any other error of `once` ends `run`, which the
    supervisor starts again.
    """

    name: str
    every: timedelta
    once: Callable[[], Awaitable[object]]
    due: str = ""
    """Its kind of due work (core.queue.due), if any: the watch rings it then, so that `every` may be long."""
    by_peoples_clock: bool = False
    for_all: bool = False
    """Whether any worker does it for all: not at each worker's start, nor while Redis, which chooses it, is away."""
    _rung: asyncio.Event = field(default_factory=asyncio.Event)

    def look(self) -> None:
        """Do the work now instead of at its next time."""
        self._rung.set()

    async def run(self) -> None:
        """Do the work whenever it is rung, until cancelled."""
        while True:
            await self._rung.wait()
            self._rung.clear()
            try:
                async with asyncio.timeout(WITHIN.total_seconds() if self.for_all else None):
                    await self.once()
            except StoreUnavailable as error:
                _log.warning("upkeep_delayed", part=self.name, cause=str(error))


class Chores:
    """The chores of a worker, with the time at which it last rang each."""

    def __init__(self, chores: Iterable[Chore], now: Callable[[], float] = time.monotonic) -> None:
        self.all = tuple(chores)
        self._now = now
        self._rung: dict[str, float] = {}

    def cron_jobs(self) -> list[CronJob]:
        """Return a cron job for each chore."""
        return [self._job(chore) for chore in self.all]

    def ring_overdue(self) -> None:
        """Ring the chores that do not need Redis and are overdue in this worker."""
        for chore in self.all:
            # Not 0 for a chore that was never rung: that is when the machine started, which may be a moment ago.
            rung = self._rung.get(chore.name, -math.inf)
            if not chore.for_all and self._now() - rung >= chore.every.total_seconds():
                self._ring(chore)

    def _ring(self, chore: Chore) -> None:
        self._rung[chore.name] = self._now()
        chore.look()

    def _job(self, chore: Chore) -> CronJob:
        async def tick(_context: dict[str, Any]) -> None:
            self._ring(chore)

        # The id of a job is its chore's name with the time of the tick: arq gives each id to a single worker.
        at = ticks(chore.every)
        return cron(
            cast(WorkerCoroutine, tick),
            name=chore.name,
            hour=at.hours,
            minute=at.minutes,
            second=at.seconds,
            timeout=TIMEOUT,
        )


class Ticks(NamedTuple):
    """The hours, minutes and seconds of ticks, as arq takes them; None is each."""

    hours: set[int] | None
    minutes: set[int] | None
    seconds: set[int]


def ticks(every: timedelta) -> Ticks:
    """Return the ticks for an interval: at least one a day, at most one a second."""
    if every < _MINUTE:
        return Ticks(None, None, _steps(60, every.total_seconds()))
    if every < _HOUR:
        return Ticks(None, _steps(60, every / _MINUTE), {0})
    return Ticks(_steps(24, every / _HOUR), {0}, {0})


def _steps(whole: int, step: float) -> set[int]:
    return set(range(0, whole, max(round(step), 1)))
