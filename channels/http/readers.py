"""Clients that read a long answer slowly: they are dropped, since they hold resources that others need."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

GRACE = 30.0
"""Seconds for which a client may take nothing at all."""
SLOWEST = 32 * 1024
"""Bytes a second that it has to take on the average, beyond that."""


class Taking:
    """The time for which an answer has waited for its client, against the bytes of it."""

    def __init__(self) -> None:
        self._size = 0
        self._waited = 0.0

    @asynccontextmanager
    async def of(self, size: int) -> AsyncIterator[None]:
        """Limit the block, which gives the client so many bytes more. Raises `TimeoutError`."""
        self._size += size
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(GRACE + self._size / SLOWEST - self._waited):
                yield
        finally:
            self._waited += loop.time() - began


def leave(request: web.Request) -> None:
    """End the connection of an answer at once, so that a part of it does not look whole."""
    if request.transport is not None:
        request.transport.abort()
