"""An index of all event sources in memory, so that a stranger's request is refused without asking Postgres."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from abilities.events.sources import EventSources, SourceKey, bearer_key
from core.errors import StoreUnavailable

READ_EVERY = 1.0
"""Seconds between two reads, however many requests name an unknown source."""
_OVERLAP = timedelta(minutes=1)
"""Sources created within this time before the newest known source are read again: they may have committed after it."""


class SourceIndex:
    """Every source's id, and the lookup key of every bearer's secret; Postgres is asked for unknown keys only.

    `now`: seconds of a monotonic clock.
    """

    def __init__(self, sources: EventSources, *, now: Callable[[], float] = time.monotonic) -> None:
        self._sources = sources
        self._now = now
        self._ids: set[str] = set()
        self._by_bearer: dict[bytes, tuple[str, ...]] = {}
        self._newest: datetime | None = None
        self._read_at: float | None = None
        self._reads = 0
        self._away = False
        self._reading = asyncio.Lock()

    def look(self, source: str, bearer: str = "") -> Sequence[str]:
        """Return the ids of the sources that may be meant: the source of this id, or those of a bearer's secret."""
        if source in self._ids:
            return (source,)
        known = self._by_bearer.get(bearer_key(bearer), ()) if bearer else ()
        return [id for id in known if id in self._ids]

    async def read(self) -> bool:
        """Read new sources, unless that was done a moment ago; return whether `look` is worth repeating.

        Raises `StoreUnavailable` if Postgres is away, or was a moment ago.
        """
        before = self._reads
        async with self._reading:
            if self._read_at is None or self._now() - self._read_at >= READ_EVERY:
                self._read_at, self._away = self._now(), True
                for key in await self._sources.keys(self._newest - _OVERLAP if self._newest else None):
                    self._keep(key)
                self._reads, self._away = self._reads + 1, False
            if self._away:
                raise StoreUnavailable("the sources of events could not be read")
        return self._reads != before

    def forget(self, id: str) -> None:
        """Remove a source that was deleted."""
        self._ids.discard(id)

    def _keep(self, key: SourceKey) -> None:
        self._ids.add(key.id)
        known = self._by_bearer.get(key.bearer_key, ())
        if key.bearer_key and key.id not in known:
            self._by_bearer[key.bearer_key] = (*known, key.id)
        self._newest = max(self._newest or key.created_at, key.created_at)
