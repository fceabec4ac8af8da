"""How a worker fares, written down for `doctor` and whoever else asks from outside."""

import asyncio

import structlog

from core.db.clock_check import CheckedClock
from core.db.database import Database
from core.errors import StoreUnavailable
from core.json_types import JsonObject
from jobs.supervision import FailingPart, Supervisor

EVERY = 10.0
"""Seconds between two reports."""

_log = structlog.get_logger()


class HealthReport:
    """Write down that a worker lives, how wrong its clock is, and which of its parts fail."""

    def __init__(self, database: Database, worker: str, clock: CheckedClock, supervisor: Supervisor) -> None:
        self._database = database
        self._worker = worker
        self._clock = clock
        self._supervisor = supervisor

    async def run(self) -> None:
        """Report for ever; a database that is away is told the next time."""
        while True:
            try:
                await self.once()
            except StoreUnavailable as error:
                _log.info("health_not_reported", cause=str(error))
            await asyncio.sleep(EVERY)

    async def once(self) -> None:
        """Report once."""
        await self._clock.sound_now()
        failing = [_as_json(one) for one in self._supervisor.failing()]
        await self._database.call("select note_worker($1,$2,$3)", self._worker, self._clock.ahead, failing)


def _as_json(part: FailingPart) -> JsonObject:
    return {"part": part.name, "failures": part.failures, "cause": part.cause, "at": part.at.isoformat()}
