"""Turns that may have killed their worker, in a process of their own: how it is asked for, and what it does."""

import asyncio
from contextlib import suppress
from datetime import timedelta

from core.journal.postgres import Lease
from jobs.claim_loop import Runner
from jobs.turns import TurnRunner
from jobs.worker import GRACE

POLL = timedelta(seconds=0.5)
IDLE = 5.0
"""Seconds without work after which the process for suspects ends."""


class SuspectsProcess:
    """The process for suspects: runs them one after another until none has come for a while."""

    def __init__(self, turns: TurnRunner, idle: float = IDLE) -> None:
        self._turns = turns
        self._idle = idle
        self._runner: Runner[Lease] = Runner("suspect", turns.claim, self._run, slots=1, poll=POLL)
        self._running = False
        self._ended = asyncio.Event()
        self._poll: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to look for them."""
        self._poll = asyncio.create_task(self._runner.poll(), name="poll suspects")

    async def until_idle(self) -> None:
        """Wait until none has run for a while."""
        while True:
            self._ended.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._idle):
                    await self._ended.wait()
                continue
            if not self._running:
                return

    async def stop(self, grace: timedelta = GRACE) -> None:
        """Take nothing more, finish or hand back what runs."""
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
        return True  # the next one may begin
