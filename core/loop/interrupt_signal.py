"""A person's stop, or their next message, that reaches a turn while it waits for a model: the call is cut off."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class CutOff(Exception):
    """A call was cut off, as the person asked to stop. `words`: their message with it, which may be empty.

    `superseded`: they did not, but wrote again, and want the turn to end for that.
    """

    def __init__(self, words: str, *, superseded: bool = False) -> None:
        super().__init__("superseded" if superseded else "stopped")
        self.words = words
        self.superseded = superseded


class InterruptSignal:
    """Cuts off the calls of one turn, now and later, once it is set. Only calls: a tool that has begun is awaited."""

    def __init__(self) -> None:
        self._cut: CutOff | None = None
        self._calls: set[asyncio.Timeout] = set()

    def set(self, words: str | None, *, superseded: bool = False) -> None:
        """Cut off what the turn waits for, and what it would wait for next. None: there is no stop that is stored."""
        if self._cut is not None or (words is None and not superseded):
            return
        self._cut = CutOff(words or "", superseded=words is None)
        now = asyncio.get_running_loop().time()
        for call in self._calls:
            call.reschedule(now)

    @asynccontextmanager
    async def cuts_off(self) -> AsyncIterator[None]:
        """Raise `CutOff` from the block as soon as the signal is set."""
        if self._cut is not None:
            raise self._cut
        limit = asyncio.timeout(None)
        try:
            async with limit:
                self._calls.add(limit)
                try:
                    yield
                finally:
                    self._calls.discard(limit)
        except TimeoutError:
            if limit.expired() and self._cut is not None:
                raise self._cut from None
            raise
