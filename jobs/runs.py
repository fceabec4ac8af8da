"""Runs over time: what has been over for long goes, with its journal; so do tasks that have ended."""

import asyncio
import random
from datetime import timedelta

import structlog

from core.errors import StoreUnavailable
from core.triggers.store import TaskStore

EVERY = timedelta(minutes=10)
KEPT = timedelta(days=90)
"""How long it can be asked why a task ran, unless the operator says otherwise."""

_log = structlog.get_logger()


class RunUpkeep:
    """Delete runs and tasks that have been over for longer than `kept`. Any number of workers may run it."""

    def __init__(self, store: TaskStore, kept: timedelta = KEPT) -> None:
        self._store = store
        self._kept = kept

    async def run(self) -> None:
        """Look for ever."""
        while True:
            await self.once()
            await asyncio.sleep(EVERY.total_seconds() * (0.75 + random.random() / 2))

    async def once(self) -> int:
        """Delete what is old now, in small batches; return how many went."""
        gone = 0
        try:
            while pruned := await self._store.prune(self._kept):
                gone += pruned
        except StoreUnavailable as error:
            _log.warning("runs_not_tidied", cause=str(error))
        if gone:
            _log.info("runs_tidied", count=gone)
        return gone
