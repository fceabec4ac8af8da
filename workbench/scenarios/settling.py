"""Waits until an installation has nothing more to do: messages to answer, turns to end, answers to send."""

import asyncio
from contextlib import suppress

from core.clock import Clock
from core.db.database import Database
from core.errors import StoreUnavailable
from workbench.simulator.app import Simulator

WITHIN = 5.0
"""Seconds: a hanging model, for example, is not waited for."""
_LOOK = 0.05
_LEASE = 120.0
"""Seconds: longer than any lease of work."""


async def settle(database: Database, simulator: Simulator) -> None:
    """Wait a little until nothing is under way, nor on its way from the providers."""
    with suppress(TimeoutError, StoreUnavailable):
        async with asyncio.timeout(WITHIN):
            # In this order: a delivered message is in the database before the provider knows.
            while simulator.delivers or await _works(database):  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(_LOOK)


async def done(database: Database, clock: Clock, work: str, within: float) -> bool:
    """Wait until nothing of a kind of work is due or under way; return False if it is after `within` seconds."""
    try:
        async with asyncio.timeout(within):
            while await _is_due(database, clock, work):  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(_LOOK)
    except TimeoutError:
        return False
    return True


async def _is_due(database: Database, clock: Clock, work: str) -> bool:
    rows = await database.rows("select * from what_is_due($1)", clock.now())
    # Work under way is due again when its lease ends.
    return any(row["work"] == work and row["wait"] <= _LEASE for row in rows)


async def _works(database: Database) -> bool:
    work = await database.one("select * from count_work()")
    return any(work[name] for name in ("waiting_messages", "running_turns", "open_outbound"))
