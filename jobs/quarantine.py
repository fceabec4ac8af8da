"""The private process that runs quarantined turns, which may have crashed a worker."""

import asyncio
from contextlib import suppress
from datetime import timedelta

from core.journal.types import Lease
from core.queue.claim_loop import Runner
from jobs.turns.runner import TurnRunner
from jobs.worker import GRACE

POLL = timedelta(seconds=0.5)
IDLE = 5.0
"""Seconds without work after which the process ends."""


class QuarantineProcess:
    """Run quarantined turns in sequence until none has been due for `IDLE` seconds."""

    def __init__(self, turns: TurnRunner) -> None:
        self._turns = turns
        self._runner: Runner[Lease] = Runner("quarantined turn", turns.claim, self._run, slots=1, poll=POLL)
        self._running = False
        self._ended = asyncio.Event()
        self._poll: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to poll."""
        self._poll = asyncio.create_task(self._runner.poll(), name="poll quarantined turns")

    async def until_idle(self) -> None:
        """Return when no turn has run for `IDLE` seconds."""
        while True:
            self._ended.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(IDLE):
                    await self._ended.wait()
                continue
            if not self._running:
                return

    async def stop(self, grace: timedelta = GRACE) -> None:
        """Stop claiming; finish or hand back the running turn."""
        if self._poll is not None:
            self._poll.cancel()
            await asyncio.wait([self._poll])
        await self._runner.stop(grace)

    async def _run(self, lease: Lease) -> bool:
        self._running = True
        try:
            await self._turns.run(lease)
        finally:
            self._running = False
            self._ended.set()
        return True  # the next turn may begin
