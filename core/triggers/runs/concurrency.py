"""Who may be at work at the same time: many together, but for what may take its worker along."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Company:
    """Let work go on together, and work that is suspected by itself: its end is then nobody else's."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._together = 0
        self._suspects = 0
        self._alone = False

    @asynccontextmanager
    async def joined(self, *, alone: bool) -> AsyncIterator[None]:
        """Wait until the work may begin; it goes on inside the block."""
        async with self._changed:
            self._suspects += alone
            try:
                await self._changed.wait_for(lambda: self._may_begin(alone=alone))
            finally:
                self._suspects -= alone
            self._alone = alone
            self._together += 1
        try:
            yield
        finally:
            self._together -= 1
            self._alone = False
            async with self._changed:
                self._changed.notify_all()

    def _may_begin(self, *, alone: bool) -> bool:
        # A suspect that waits lets nobody else begin, or it might wait for ever.
        return not self._alone and not (self._together if alone else self._suspects)
