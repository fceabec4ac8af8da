"""Waits until an installation has nothing more to do: messages to answer, turns to end, answers to send."""

import asyncio
from contextlib import suppress

from core.db.database import Database
from core.errors import StoreUnavailable
from workbench.simulator.app import Simulator

WITHIN = 5.0
"""Seconds: a hanging model, for example, is not waited for."""
_LOOK = 0.05


async def settle(database: Database, simulator: Simulator) -> None:
    """Wait a little until nothing is under way, nor on its way from the providers."""
    with suppress(TimeoutError, StoreUnavailable):
        async with asyncio.timeout(WITHIN):
            # In this order: a delivered message is in the database before the provider knows.
            while simulator.delivers or await _works(database):  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(_LOOK)


async def _works(database: Database) -> bool:
    work = await database.one("select * from count_work()")
    return any(work[name] for name in ("waiting_messages", "running_turns", "open_outbound"))
