"""Which looks run at the same time: many together, but a look that may kill its worker runs alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class SharedSlot:
    """Run work together, but work that may crash alone, so that its crash hits nothing else."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._together = 0
        self._waiting_alone = 0
        self._alone = False

    @asynccontextmanager
    async def enter(self, *, alone: bool) -> AsyncIterator[None]:
        """Wait until the work may begin; it runs inside the block."""
        async with self._changed:
            self._waiting_alone += alone
            try:
                await self._changed.wait_for(lambda: self._may_begin(alone=alone))
            finally:
                self._waiting_alone -= alone
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
        # Work that waits to run alone keeps all other work from beginning, or it might wait forever.
        return not self._alone and not (self._together if alone else self._waiting_alone)
