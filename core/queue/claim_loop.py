"""Run a kind of work within a limit: rows named by wakeups at once, and other rows when the slow poll finds them."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import structlog

from core.errors import StoreUnavailable

RING_PATIENCE = 5
"""Seconds that a wakeup waits for a free slot; the slow poll finds the row later."""

_log = structlog.get_logger()


class Runner[Claim]:
    """Claim rows and run them, at most `slots` at once in this process.

    `claim` claims the named row or any due row. `run` does its work; if cancelled it hands back its claim and
    raises `CancelledError`; it returns True if its end may let a waiting row start. A wakeup waits for a free slot
    before it claims, so that a busy process leaves rows to an idle process. `news` is called whenever a wakeup has come
    or work has ended, since other work may follow.
    """

    def __init__(
        self,
        name: str,
        claim: Callable[[str | None], Awaitable[Claim | None]],
        run: Callable[[Claim], Awaitable[bool | None]],
        *,
        slots: int,
        poll: timedelta = timedelta(seconds=1),
        news: Callable[[], None] | None = None,
    ) -> None:
        self._name = name
        self._claim = claim
        self._run = run
        self._slots = slots
        self._free = asyncio.Semaphore(slots)
        self._poll = poll.total_seconds()
        self._news = news
        self._claims: set[asyncio.Future[bool]] = set()
        self._rings: set[asyncio.Task[None]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Event()
        self._stopping = False

    async def wake(self, row_id: str) -> None:
        """Claim the row that a wakeup named; return when its work has started, or if it cannot be claimed."""
        await self._take(row_id)

    async def room(self) -> None:
        """Return once a slot is free."""
        async with self._free:
            return

    def look(self) -> None:
        """Look for due rows now instead of at the next poll."""
        self._room.set()

    def ring(self, row_id: str) -> None:
        """Claim the row that a wakeup named, as `wake` does, but return at once."""
        self._tell()
        ringing = asyncio.create_task(self._ring(row_id), name=f"ring {self._name}")
        self._rings.add(ringing)
        ringing.add_done_callback(self._rings.discard)

    def take(self, row_id: str) -> bool:
        """If a slot is free, claim a row as `ring` does; return whether a slot was free."""
        if self._stopping or len(self._rings) + len(self._tasks) >= self._slots:
            return False
        self.ring(row_id)
        return True

    async def hold(self) -> "Slot[Claim] | None":
        """Take a slot for a row that the caller claims; None if no slot is free."""
        if self._stopping or self._free.locked():
            return None
        await self._free.acquire()
        claiming = asyncio.get_running_loop().create_future()
        self._claims.add(claiming)
        claiming.add_done_callback(self._claims.discard)
        return Slot(self, claiming)

    def start(self, claim: Claim | None) -> None:
        """Do a claimed row's work in a slot that was taken for it; without a row, free the slot."""
        if claim is None:
            self._free.release()
            return
        task = asyncio.create_task(self._guarded(claim), name=self._name)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    async def poll(self) -> None:
        """Claim due rows until stopped, also those whose wakeup was lost."""
        while not self._stopping:
            self._room.clear()
            if not await self._take(None):
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._poll * (0.75 + random.random() / 2)):
                        await self._room.wait()

    async def stop(self, grace: timedelta) -> None:
        """Stop claiming, let running work finish within the grace time, and cancel the rest."""
        self._stopping = True
        for ringing in self._rings:
            ringing.cancel()
        if self._claims:
            await asyncio.wait(self._claims, timeout=5)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace.total_seconds())
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)

    async def _ring(self, row_id: str) -> None:
        try:
            # Without a log line: a busy process leaves the row to the slow poll of a free process.
            with suppress(TimeoutError):
                async with asyncio.timeout(RING_PATIENCE):
                    await self._take(row_id)
        except Exception:
            # The outermost handler of a wakeup, which may not end those that follow.
            _log.exception("wakeup_failed", work=self._name)

    async def _take(self, row_id: str | None) -> bool:
        await self._free.acquire()
        # The caller may be cancelled (its patience ends, a shutdown), but a claim cut off in the middle would leave a
        # lease that nobody holds: the claim continues until its work has started.
        claiming = asyncio.create_task(self._start(row_id), name=f"claim {self._name}")
        self._claims.add(claiming)
        claiming.add_done_callback(self._claims.discard)
        return await asyncio.shield(claiming)

    async def _start(self, row_id: str | None) -> bool:
        claim = None
        try:
            if not self._stopping:
                claim = await self._claim(row_id)
        except StoreUnavailable as error:
            _log.warning("claim_delayed", work=self._name, cause=str(error))
        finally:
            self.start(claim)
        return claim is not None

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._free.release()
        self._tell()

    def _tell(self) -> None:
        if self._news is not None:
            self._news()

    async def _guarded(self, claim: Claim) -> None:
        # The outermost handler of this work: errors are logged here, and the row is due again when its lease ends.
        try:
            if await self._run(claim):
                self._room.set()
        except Exception:
            _log.exception("work_failed", work=self._name)


@dataclass(frozen=True, slots=True)
class Slot[Claim]:
    """A slot that waits for the claim of a row. The end of its runner waits for it."""

    runner: Runner[Claim]
    claiming: "asyncio.Future[bool]"

    def start(self, claim: Claim | None) -> None:
        """Do the row's work; without a row, free the slot."""
        self.runner.start(claim)
        self.claiming.set_result(claim is not None)
