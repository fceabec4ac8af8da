"""Periodic work as arq's cron jobs: each tick is a job, which one worker of all has, and which rings the work there.

A tick that is missed, or that its worker dies of, is made up for by the next one. While Redis is away there are no
ticks, and each worker rings its own chores, but for those that one worker does for all.
"""

import asyncio
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
"""How long what one worker does for all may take."""
_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Chore:
    """Work that is done each `every`, and whenever it is rung.

    While the database is away it is skipped until its next time. What else `once` raises ends `run`, and the supervisor
    starts it again.
    """

    name: str
    every: timedelta
    once: Callable[[], Awaitable[object]]
    due: str = ""
    """What tells that it has something to do (core.queue.due), so that it need not be done often."""
    by_peoples_clock: bool = False
    for_all: bool = False
    """One worker does it for all: not at each worker's start, and not while Redis, which chooses one, is away."""
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
    """The chores of a worker, and when it rang them last."""

    def __init__(self, chores: Iterable[Chore], now: Callable[[], float] = time.monotonic) -> None:
        self.all = tuple(chores)
        self._now = now
        self._rung: dict[str, float] = {}

    def cron_jobs(self) -> list[CronJob]:
        """Return a cron job for each of them."""
        return [self._job(chore) for chore in self.all]

    def ring_overdue(self) -> None:
        """Ring what is done without Redis too, and has not been rung here for as long as it may wait."""
        for chore in self.all:
            if not chore.for_all and self._now() - self._rung.get(chore.name, 0.0) >= chore.every.total_seconds():
                self._ring(chore)

    def _ring(self, chore: Chore) -> None:
        self._rung[chore.name] = self._now()
        chore.look()

    def _job(self, chore: Chore) -> CronJob:
        async def tick(_context: dict[str, Any]) -> None:
            self._ring(chore)

        # A chore's name with the tick's time is its job's id, of which arq lets one worker have each.
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
    """Return when what is to be done about so often has its ticks: each day at least, each second at most."""
    if every < _MINUTE:
        return Ticks(None, None, _steps(60, every.total_seconds()))
    if every < _HOUR:
        return Ticks(None, _steps(60, every / _MINUTE), {0})
    return Ticks(_steps(24, every / _HOUR), {0}, {0})


def _steps(whole: int, step: float) -> set[int]:
    return set(range(0, whole, max(round(step), 1)))
