"""How many bad requests a source may send: counted in this process, cheaply, and apart from good ones.

Good requests are never counted and never refused here: behind a proxy all come from one source, and a sender of
rubbish must not shut out the provider.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

BAD_A_MINUTE = 300
SOURCES = 10_000
"""How many sources are told apart within a minute; further ones are counted together."""

_OTHERS = ""


@dataclass(slots=True)
class _Window:
    began: float
    count: int = 0


class BadRequests:
    """Count refusals per source and minute."""

    def __init__(self, a_minute: int = BAD_A_MINUTE, now: Callable[[], float] = monotonic) -> None:
        self._a_minute = a_minute
        self._now = now
        self._windows: dict[str, _Window] = {}
        self._swept = now()

    def count(self, source: str) -> int:
        """Count one more; return how many this source is beyond the limit, 0 within it."""
        now = self._now()
        if now - self._swept >= 60:
            self._windows = {name: window for name, window in self._windows.items() if now - window.began < 60}
            self._swept = now
        if source not in self._windows and len(self._windows) >= SOURCES:
            source = _OTHERS
        window = self._windows.setdefault(source, _Window(now))
        if now - window.began >= 60:
            window.began, window.count = now, 0
        window.count += 1
        return max(0, window.count - self._a_minute)
