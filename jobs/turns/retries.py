"""The retries of a turn, and so of a task's run, after an outage or an error."""

import asyncio
from datetime import timedelta

import structlog

from core.errors import StoreUnavailable
from core.journal.types import Lease
from core.queue.due import DueWork
from core.queue.wakeups import Later
from core.turns.store import TurnStore

RETRY_DELAY = timedelta(seconds=2)
STUCK_DELAY = timedelta(minutes=1)
"""Pause before retrying a lane whose turn can neither end nor fail, so that its tries cost other lanes little."""
HAND_BACK_WITHIN = 60.0
"""Seconds that a turn waits for a database that went away, to give the lane back."""

_log = structlog.get_logger()


async def leave(store: TurnStore, later: Later, lease: Lease, delay: timedelta) -> None:
    """Release a lane, to retry its turn after `delay`."""
    await store.leave(lease, delay)
    later.come_due(DueWork.TURNS, lease.lane_id, delay)


async def hand_back(store: TurnStore, later: Later, lease: Lease, delay: timedelta, within: float) -> None:
    """Release a lane, to retry its turn after `delay`; wait up to `within` seconds for a database that went away."""
    try:
        async with asyncio.timeout(within):
            while True:
                try:
                    return await leave(store, later, lease, delay)
                except StoreUnavailable:
                    await asyncio.sleep(0.5)
    except Exception as error:  # the lease runs out by itself
        _log.warning("turn_not_handed_back", lane=lease.lane_id, cause=type(error).__name__)
