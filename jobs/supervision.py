"""Keep the parts of a worker running, each by itself: what one raises neither ends nor restarts another."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog
from redis.exceptions import RedisError

from core.errors import StoreUnavailable
from core.queue.quarantine import CURRENT_WORK

FIRST_PAUSE, MAX_PAUSE = 0.2, 60.0
"""Seconds before a part that failed is started again: doubling, up to the longest."""
AWAY_PAUSE = 2.0
"""The longest where only Redis or Postgres were away."""
STEADY = 60.0
"""Seconds that a part runs until it no longer counts as failing."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Part:
    """One endless work of a worker; it is started again whenever it ends."""

    name: str
    run: Callable[[], Awaitable[None]]
    longest_pause: float = MAX_PAUSE


@dataclass(frozen=True, slots=True)
class FailingPart:
    """A part that failed so often in a row, last with this error."""

    name: str
    failures: int
    cause: str
    at: datetime


@dataclass(slots=True)
class _Course:
    """How one part has fared. `began`: when its present run began, None while it pauses."""

    failing: FailingPart | None = None
    began: float | None = None


@dataclass(slots=True)
class Supervisor:
    """Run parts for ever. `pause` waits for so many seconds."""

    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    _courses: dict[str, _Course] = field(default_factory=dict)

    async def keep(self, part: Part) -> None:
        """Run one part again and again, later and later while it fails."""
        CURRENT_WORK.set(f"part {part.name}")  # turns and messages that it begins say what they are themselves
        course = self._courses.setdefault(part.name, _Course())
        pause = FIRST_PAUSE
        while True:
            course.began = _now()
            longest = part.longest_pause
            try:
                await part.run()
            except (RedisError, OSError, TimeoutError, StoreUnavailable) as error:
                longest = AWAY_PAUSE
                _log.warning("worker_part_restarts", part=part.name, cause=type(error).__name__)
            except Exception as error:
                # The outermost loop of a part: whatever nobody foresaw in it stays its own.
                failures = self._failures(course) + 1
                course.failing = FailingPart(part.name, failures, type(error).__name__, datetime.now(UTC))
                _log.exception("worker_part_failed", part=part.name, failures=failures)
            else:
                longest = AWAY_PAUSE
            if _now() - course.began > STEADY:
                pause = FIRST_PAUSE
            course.began = None
            await self.pause(min(pause, longest))
            pause = min(pause * 2, MAX_PAUSE)

    def failing(self) -> list[FailingPart]:
        """Return the parts that fail at present, with how often in a row."""
        return [course.failing for course in self._courses.values() if course.failing and self._failures(course)]

    def _failures(self, course: _Course) -> int:
        """Return how often a part has failed in a row; none once its present run has lasted."""
        if course.failing is None or (course.began is not None and _now() - course.began > STEADY):
            return 0
        return course.failing.failures


def _now() -> float:
    return asyncio.get_running_loop().time()
