"""Events over time: what is old goes. Handling them is the event bus's own work."""

import asyncio
from datetime import timedelta

import structlog

from core.clock import Clock
from core.errors import StoreUnavailable
from core.events.store import KEPT, EventStore

EVERY = timedelta(hours=1)

_log = structlog.get_logger()


class EventUpkeep:
    """Delete events that are older than `core.events.store.KEPT`. Any number of workers may run it."""

    def __init__(self, store: EventStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def run(self) -> None:
        """Look for ever."""
        while True:
            await self.once()
            await asyncio.sleep(EVERY.total_seconds())

    async def once(self) -> int:
        """Delete what is old now; return how many went."""
        gone = 0
        try:
            while now := await self._clock.sound_now():
                pruned = await self._store.prune(now - KEPT)
                gone += pruned
                if not pruned:
                    break
        except StoreUnavailable as error:
            _log.warning("events_not_tidied", cause=str(error))
        return gone
