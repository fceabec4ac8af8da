"""How long events are kept."""

from datetime import timedelta

from abilities.events.store import KEPT, EventStore
from core.clock import Clock
from core.queue.batches import in_batches


async def prune_events(store: EventStore, clock: Clock, kept: timedelta = KEPT) -> int:
    """Delete events older than `kept`. Return their number."""
    return await in_batches(clock, lambda now: store.prune(now - kept))
