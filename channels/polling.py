"""The outer loop of polling a provider: a single process at a time, its pauses, and the report for `doctor`."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

import structlog

from channels.poll_lease import PollLease
from core.clock import Clock
from core.db.outages import is_store_error
from core.errors import LeaseLost, StoreUnavailable
from core.messaging.stalls import POLL_TROUBLED

FIRST_PAUSE = 0.5
NOT_OURS_PAUSE = 3.0
"""Seconds between two looks at whether the reading process has ended."""
TRIES = 5
"""Tries of an item that breaks us before it is recorded and left out."""

_log = structlog.get_logger()


class PollLoop:
    """Run the steps of a channel until stopped, while this process holds the lease on its account.

    A step claims the lease, reads, commits, and returns the seconds to wait before the next. After an error it is tried
    again, with pauses that grow up to `max_pause` seconds. `source` names the backlog in the log.
    """

    def __init__(self, lease: PollLease, clock: Clock, *, source: str, max_pause: float) -> None:
        self.held = False
        self._lease = lease
        self._clock = clock
        self._max_pause = max_pause
        self._log = _log.bind(source=source)
        self._stopping = asyncio.Event()
        self._offset = 0
        self._pause = 0.0
        self._problem = self._shown = self._stored = ""
        self._broken: Counter[int] = Counter()

    @property
    def stall(self) -> str:
        """Return a sentence if this process's poll is disturbed; empty if it is not, or if another process polls."""
        return POLL_TROUBLED if self.held and self._problem else ""

    def stop(self) -> None:
        self._stopping.set()

    async def run(self, step: Callable[[], Awaitable[float]]) -> None:
        """Run steps until stopped, then release the lease."""
        while not self._stopping.is_set():
            try:
                pause = await step()
            except LeaseLost:
                pause = NOT_OURS_PAUSE
            except StoreUnavailable:
                pause = self.later()
            except Exception:
                # The outermost loop: after any error, people's messages wait at the provider until it passes.
                self._log.exception("polling_failed")
                pause = self.later()
            await self._rest(pause)
        await self._release()

    async def claim(self) -> int | None:
        """Take or renew the lease; return the offset to continue from, or None while another process holds it."""
        known = await self._lease.claim()
        if known is None:
            self.held = False
            return None
        self._offset = known
        if not self.held:
            self.held = True
            self._log.info("polling_begins", offset=known)
            self._problem = self._shown = ""  # the last holder's problem may be over
            await self.keep(known)
        return known

    async def keep(self, offset: int) -> None:
        """Store the position to continue from, with the present problem. Raises `LeaseLost` if the lease has ended."""
        self._offset = offset
        if not await self._lease.keep(offset, self._shown):
            self.held = False
            raise LeaseLost
        self._stored = self._shown

    async def tell(self, problem: str) -> None:
        """Store the problem, '' for none, for `doctor`; log it when it changes."""
        if problem != self._problem:
            if problem:
                self._log.warning("polling_disturbed", reason=problem)
            else:
                self._log.info("polling_goes_on")
            self._problem = problem
            self._shown = f"{problem} (since {self._clock.now():%Y-%m-%d %H:%M} UTC)" if problem else ""
        # The failed work may have taken longer than the lease lasts.
        if self._stored != self._shown and await self.claim() is not None:
            await self.keep(self._offset)

    def gives_up(self, number: int, error: Exception) -> bool:
        """Count an error of an entry; return whether it is ours and too frequent for later entries to wait."""
        if isinstance(error, StoreUnavailable) or is_store_error(error):
            return False  # not this entry's fault: the next would be left out just so
        self._broken[number] += 1
        return self._broken[number] >= TRIES

    def taken(self, number: int) -> None:
        """Forget the errors of an item that was committed or left out."""
        self._broken.pop(number, None)

    async def unless_stopped[T](self, work: Awaitable[T]) -> T | None:
        """Return the result of `work`; if stopped, cancel it and return None at once."""
        working = asyncio.ensure_future(work)
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            stopping.cancel()
            if not working.done():
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)

    def later(self) -> float:
        """Return the next pause, which is longer than the last."""
        self._pause = min(self._max_pause, max(FIRST_PAUSE, self._pause * 2))
        return self._pause

    def went_well(self) -> None:
        """Reset the pause to the shortest."""
        self._pause = 0.0

    async def _rest(self, seconds: float) -> None:
        if seconds:
            try:
                async with asyncio.timeout(seconds):
                    await self._stopping.wait()
            except TimeoutError:
                return

    async def _release(self) -> None:
        if not self.held:
            return
        try:
            await self._lease.release()
        except StoreUnavailable:
            self._log.info("poll_lease_left_to_end")
