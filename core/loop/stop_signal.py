"""A person's stop that reaches a turn while it waits for a model: the call is cut off, not awaited."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class CutOff(Exception):
    """A call was cut off, as the person asked to stop. `words`: their message with it, which may be empty."""

    def __init__(self, words: str) -> None:
        super().__init__("stopped")
        self.words = words


class StopSignal:
    """Cuts off the calls of one turn, now and later, once it is set. Only calls: a tool that has begun is awaited."""

    def __init__(self) -> None:
        self._words: str | None = None
        self._calls: set[asyncio.Timeout] = set()

    def set(self, words: str | None) -> None:
        """Cut off what the turn waits for, and what it would wait for next. None: there is no stop that is stored."""
        if words is None or self._words is not None:
            return
        self._words = words
        now = asyncio.get_running_loop().time()
        for call in self._calls:
            call.reschedule(now)

    @asynccontextmanager
    async def cuts_off(self) -> AsyncIterator[None]:
        """Raise `CutOff` from the block as soon as the signal is set."""
        if self._words is not None:
            raise CutOff(self._words)
        limit = asyncio.timeout(None)
        try:
            async with limit:
                self._calls.add(limit)
                try:
                    yield
                finally:
                    self._calls.discard(limit)
        except TimeoutError:
            if limit.expired() and self._words is not None:
                raise CutOff(self._words) from None
            raise
