"""Work over many people, in sequence: a person whose work raises an unforeseen error is skipped for a while."""

import time
from collections.abc import Awaitable, Callable

import structlog

from core.errors import StoreUnavailable

FIRST, LONGEST = 5.0, 3600.0
"""Seconds that a failed entry is left alone: doubling, up to the longest."""
_MAX_KNOWN = 10_000

_log = structlog.get_logger()


class Setbacks:
    """The people whose work failed, how often in a row, and until when they are skipped; in this process only."""

    def __init__(self, event: str, now: Callable[[], float] = time.monotonic) -> None:
        self._event = event
        self._now = now
        self._known: dict[str, tuple[int, float]] = {}

    async def does(self, whom: str, work: Callable[[], Awaitable[int]]) -> int:
        """Do a person's work and return its count; 0 if it failed, now or recently. Raises `StoreUnavailable`."""
        failures, until = self._known.get(whom, (0, 0.0))
        if failures and self._now() < until:
            return 0
        try:
            done = await work()
        except StoreUnavailable:
            raise
        except Exception:
            # Other entries must not wait for this person's, nor the log be filled with it.
            _log.exception(self._event, id=whom, failures=failures + 1)
            self._note(whom, failures)
            return 0
        self._known.pop(whom, None)
        return done

    def left_alone(self) -> list[str]:
        """Return the people who are skipped now, so that a query with a limit can return others."""
        return [whom for whom, (_, until) in self._known.items() if self._now() < until]

    def _note(self, whom: str, failures: int) -> None:
        if len(self._known) >= _MAX_KNOWN:
            self._known.pop(next(iter(self._known)))
        self._known[whom] = (failures + 1, self._now() + min(FIRST * 2 ** min(failures, 20), LONGEST))
