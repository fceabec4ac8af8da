"""Waits until an installation has nothing more to do: messages to answer, turns to end, answers to send."""

import asyncio
from contextlib import suppress

from core.db.database import Database
from core.errors import StoreUnavailable

WITHIN = 5.0
"""Seconds: a model that hangs, say, is not waited for."""
_LOOK = 0.05


async def settle(database: Database) -> None:
    """Wait a little until nothing is under way."""
    with suppress(TimeoutError, StoreUnavailable):
        async with asyncio.timeout(WITHIN):
            while await _works(database):  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(_LOOK)


async def _works(database: Database) -> bool:
    work = await database.one("select * from count_work()")
    return any(work[name] for name in ("waiting_messages", "running_turns", "open_outbound"))
