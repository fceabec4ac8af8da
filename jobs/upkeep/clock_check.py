"""A worker's clock, compared with Postgres': work that a wrong time would spoil is held back until it is right."""

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import structlog

from core.clock import Clock
from core.db.database import Database

MAX_APART = 60.0
"""Seconds that the machine's time may differ from Postgres'."""
MEASURED_EVERY = 30.0
"""Seconds for which a measurement holds, unless the machine's clock steps."""
WRONG_EVERY = 1.0
"""The same while the clocks differ, so that work goes on soon after they agree."""
_STEP = 1.0

_log = structlog.get_logger()


class CheckedClock(Clock):
    """The clock, which knows whether its time is reliable.

    The machine's own time is compared, not the time that `path` shifts: a clock that is moved on purpose is no error.
    Between two measurements, a step of the machine's clock shows against monotonic time, which cannot be set.
    """

    def __init__(
        self,
        path: Path | None,
        database: Database,
        machine: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(path, machine)
        self._database = database
        self._steady = steady
        self._measured_at = float("-inf")
        self._drift = 0.0
        self._sound = True
        self.ahead: float | None = None
        """Seconds by which this machine is ahead of Postgres, at least; None before the first measurement."""

    async def sound_now(self) -> datetime | None:
        """Return the present moment; None while the machine's time is wrong. Raises `StoreUnavailable`."""
        real = self._machine()
        steady = self._steady()
        stepped = abs(real - steady - self._drift) > _STEP
        if stepped or steady - self._measured_at > (MEASURED_EVERY if self._sound else WRONG_EVERY):
            real = await self._measure()
        return self.moment_of(real) if self._sound else None

    async def _measure(self) -> float:
        """Compare with Postgres' time; the time that the answer takes counts in favour of the machine's."""
        begun, before = self._steady(), self._machine()
        row = await self._database.call("select extract(epoch from clock_timestamp())::float8 as seconds")
        after, steady = self._machine(), self._steady()
        if abs((after - before) - (steady - begun)) > _STEP:
            return await self._measure()  # it stepped in between
        theirs = float(row["seconds"]) if row else after
        self.ahead = before - theirs if before > theirs else min(after - theirs, 0.0)
        self._measured_at, self._drift = steady, after - steady
        sound = abs(self.ahead) <= MAX_APART
        if sound is not self._sound:
            self._sound = sound
            if sound:
                _log.warning("clock_right_again", ahead_seconds=round(self.ahead))
            else:
                _log.error("clock_wrong", ahead_seconds=round(self.ahead), held_back="all that time decides")
        return after
