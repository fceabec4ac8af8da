"""Which sources of events there are, so that a stranger's request is refused without asking Postgres about it."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from core.errors import StoreUnavailable
from core.events.sources import EventSources, SourceKey, bearer_key

READ_EVERY = 1.0
"""Seconds between two looks for new sources, however many requests name one that is not known."""
_OVERLAP = timedelta(minutes=1)
"""Sources made in this time before the newest known one are read again: they may have committed after it."""


class SourceIndex:
    """Know every source's id, and what every bearer's secret is looked up by; ask only when an unknown one is named.

    `now`: seconds of a clock that only goes forward.
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
        """Return the ids of what may be meant: the source of this id, or those that a bearer's secret opens."""
        if source in self._ids:
            return (source,)
        known = self._by_bearer.get(bearer_key(bearer), ()) if bearer else ()
        return [id for id in known if id in self._ids]

    async def read(self) -> bool:
        """Read the new sources, unless that was done a moment ago; tells whether any look is worth repeating.

        Raises `StoreUnavailable` where Postgres is away, or was a moment ago.
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
        """Forget a source that is gone."""
        self._ids.discard(id)

    def _keep(self, key: SourceKey) -> None:
        self._ids.add(key.id)
        known = self._by_bearer.get(key.bearer_key, ())
        if key.bearer_key and key.id not in known:
            self._by_bearer[key.bearer_key] = (*known, key.id)
        self._newest = max(self._newest or key.created_at, key.created_at)
