"""People's time, moved from the page: every process of `dev` reads the same file."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.clock import Clock, set_clock
from core.errors import RequestRefused
from core.json_types import JsonObject

RATES = (0, 1, 60, 3600)
"""Rates of the clock: stopped, as the machine's, a minute or an hour in each second."""
LONGEST_JUMP = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class BenchClock:
    """The clock of this `dev`, whose file is at `path`."""

    path: Path

    def told(self) -> Clock:
        """Return the clock of all processes."""
        return Clock(self.path)

    def shown(self) -> JsonObject:
        """Return the page's data: the moment in Unix seconds, and the clock's rate."""
        clock = Clock(self.path)
        now, real = clock.now().timestamp(), time.time()
        return {"now": now, "rate": clock.rate, "ahead": round(now - real, 1), "rates": list(RATES)}

    def run(self, rate: object) -> None:
        """Run the clock from its present moment at a rate. Raises `RequestRefused`."""
        if isinstance(rate, bool) or rate not in RATES:
            raise RequestRefused(f"The clock runs at {', '.join(map(str, RATES))} times the real speed.")
        real = time.time()
        self._set(Clock(self.path).moment_of(real), float(str(rate)), real)

    def jump(self, seconds: object = None, to: object = None) -> None:
        """Jump ahead by seconds, or to a moment in ISO 8601 with its offset. Raises `RequestRefused`."""
        clock, real = Clock(self.path), time.time()
        now = clock.moment_of(real)
        then = now + timedelta(seconds=_seconds(seconds)) if seconds is not None else _moment(to)
        if then < now:
            raise RequestRefused("Time only moves ahead: what has happened cannot be taken back.")
        if then - now > LONGEST_JUMP:
            raise RequestRefused("A jump leads a year ahead at most.")
        self._set(then, clock.rate, real)

    def real(self) -> None:
        """Return to the machine's own time."""
        set_clock(self.path)

    def _set(self, moment: datetime, rate: float, real: float) -> None:
        set_clock(
            self.path, offset=(moment - datetime.fromtimestamp(real, tz=UTC)).total_seconds(), rate=rate, base=real
        )


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RequestRefused('"seconds" must be a number.')
    return float(value)


def _moment(value: object) -> datetime:
    try:
        then = datetime.fromisoformat(str(value))
    except ValueError:
        raise RequestRefused('"to" must be a moment, such as 2026-11-24T18:00:00+00:00.') from None
    if then.tzinfo is None:
        raise RequestRefused('"to" must say its offset, such as +00:00.')
    return then
