"""Run the parts of a worker side by side: an error of a part neither ends nor restarts another."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog
from redis.exceptions import RedisError

from core.db.database import Database
from core.errors import StoreUnavailable
from core.messaging.stalls import read_stalls
from core.queue.quarantine import CURRENT_WORK

FIRST_PAUSE, MAX_PAUSE = 0.2, 60.0
"""Seconds before a failed part is started again: doubling, up to the maximum."""
AWAY_PAUSE = 2.0
"""The maximum if only Redis or Postgres was away."""
REPEATED = 2
"""Failures of a part in a row that are reported: a single failure may be chance."""
STEADY = 60.0
"""Seconds that a part must run before it no longer counts as failing."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Part:
    """Endless work of a worker; it is started again whenever it ends."""

    name: str
    run: Callable[[], Awaitable[None]]
    longest_pause: float = MAX_PAUSE


@dataclass(frozen=True, slots=True)
class FailingPart:
    """A part that has failed so often in a row, and its last error."""

    name: str
    failures: int
    cause: str
    at: datetime


@dataclass(slots=True)
class _History:
    """The failures of a part. `began`: when its present run began; None during a pause."""

    failing: FailingPart | None = None
    began: float | None = None


@dataclass(slots=True)
class PartSupervisor:
    """Run parts until cancelled. `pause` waits for a number of seconds."""

    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    _histories: dict[str, _History] = field(default_factory=dict)

    async def run(self, part: Part) -> None:
        """Run a part again and again, with longer pauses while it fails."""
        CURRENT_WORK.set(f"part {part.name}")  # turns and messages that it starts set their own
        history = self._histories.setdefault(part.name, _History())
        pause = FIRST_PAUSE
        while True:
            history.began = _now()
            longest = part.longest_pause
            try:
                await part.run()
            except (RedisError, OSError, TimeoutError, StoreUnavailable) as error:
                longest = AWAY_PAUSE
                _log.warning("worker_part_restarts", part=part.name, cause=type(error).__name__)
            except Exception as error:
                # The outermost handler of a part: its unforeseen error must not end another part.
                failures = self._failures(history) + 1
                history.failing = FailingPart(part.name, failures, type(error).__name__, datetime.now(UTC))
                _log.exception("worker_part_failed", part=part.name, failures=failures)
            else:
                longest = AWAY_PAUSE
            if _now() - history.began > STEADY:
                pause = FIRST_PAUSE
            history.began = None
            await self.pause(min(pause, longest))
            pause = min(pause * 2, MAX_PAUSE)

    def failing(self) -> list[FailingPart]:
        return [history.failing for history in self._histories.values() if history.failing and self._failures(history)]

    def _failures(self, history: _History) -> int:
        """Return the number of a part's failures in a row; 0 once its present run has lasted."""
        if history.failing is None or (history.began is not None and _now() - history.began > STEADY):
            return 0
        return history.failing.failures


async def stalls_seen(database: Database, supervisor: PartSupervisor) -> tuple[str, ...]:
    """Return a phrase for each stall: of any process, as the database knows it, or of this worker's parts."""
    failing = (part for part in supervisor.failing() if part.failures >= REPEATED)
    parts = (f"{part.name}: failed {part.failures} times in a row" for part in failing)
    try:
        return (*await read_stalls(database), *parts)
    except StoreUnavailable:
        return ("Postgres does not answer", *parts)


def _now() -> float:
    return asyncio.get_running_loop().time()
