"""A journal that waits for its store."""

import asyncio
import time
from collections.abc import Sequence

from core.errors import StoreUnavailable
from core.journal.types import Journal, StepRecord


class PatientJournal:
    """A journal that waits for a store that is away for a moment.

    What a tool did has happened whether or not it can be written down: giving up at once would leave its
    outcome unknown. `patience` is in seconds; after it `StoreUnavailable` is raised as it came.
    """

    def __init__(self, journal: Journal, patience: float, pause: float = 0.3) -> None:
        self._journal = journal
        self._patience = patience
        self._pause = pause

    async def recorded(self) -> Sequence[StepRecord]:
        return await self._journal.recorded()

    async def write(self, record: StepRecord) -> None:
        ends = time.monotonic() + self._patience
        while True:
            try:
                return await self._journal.write(record)
            except StoreUnavailable:
                if time.monotonic() >= ends:
                    raise
                await asyncio.sleep(self._pause)

    async def outcome_unknown(self, name: str, arguments_hash: str) -> bool:
        return await self._journal.outcome_unknown(name, arguments_hash)
