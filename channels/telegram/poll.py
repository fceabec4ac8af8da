"""Long polling: our own getUpdates loop, whose offset moves only after the commit.

One process polls at a time, by a lease. Another program that polls the same bot makes Telegram answer 409 to
one of the two (core.telegram.org/bots/api#getupdates): that is shown, and retried until it ends.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from time import monotonic

import structlog
from telegram.error import Conflict, TelegramError

from channels.telegram.parse import read_update_id
from core.clock import Clock
from core.db.outages import is_store_error
from core.errors import RequestRefused, StoreUnavailable
from core.json_types import Json, JsonObject
from core.messaging.poll_lease import PollLease
from providers.telegram.client import TelegramApi
from providers.telegram.errors import FloodControl, describe

POLL_SECONDS = 8
"""How long Telegram holds one poll; with the margin for its answer, within the lease."""
FIRST_PAUSE, MAX_PAUSE = 0.5, 20.0
FLOOR = 1.0
"""Seconds from one poll to the next where nothing came: a server that does not hold polls is not asked on and on."""
MAX_WAIT = 300
"""Seconds that a request to wait is kept to; beyond, Telegram is asked again whether it holds."""
TRIES = 5
"""How often an update that breaks us is tried before it is left out, which is recorded."""

_NOT_OURS_PAUSE = 3.0
_CONFLICT_PAUSE = 2.0

_log = structlog.get_logger()


class Poller:
    """Fetch updates and hand each to `take`, in order, until stopped.

    `take` returns when the update is committed; if it raises, the offset stays where it is. `leave_out` records an
    update that fails again and again, so that later ones come in; a failing store is no reason for that.
    """

    def __init__(
        self,
        api: TelegramApi,
        lease: PollLease,
        take: Callable[[JsonObject], Awaitable[None]],
        leave_out: Callable[[JsonObject], Awaitable[None]],
        clock: Clock,
    ) -> None:
        self._api = api
        self._lease = lease
        self._take = take
        self._leave_out = leave_out
        self._clock = clock
        self._stopping = asyncio.Event()
        self._held = False
        self._offset = 0
        self._pause = 0.0
        self._problem = self._shown = ""
        self._broken: Counter[int] = Counter()

    def stop(self) -> None:
        self._stopping.set()

    async def run(self) -> None:
        """Poll until stopped; failures are retried with growing pauses."""
        while not self._stopping.is_set():
            try:
                pause = await self._step()
            except StoreUnavailable:
                pause = self._later()
            except Exception:
                # The outermost loop: whatever it is, the people's messages wait at Telegram until it passes.
                _log.exception("polling_failed")
                pause = self._later()
            await self._rest(pause)
        await self._release()

    async def _step(self) -> float:
        """Hold the lease, poll once, commit the updates; return the seconds to wait before the next step."""
        known = await self._lease.claim()
        if known is None:
            self._held = False
            return _NOT_OURS_PAUSE
        if not self._held:
            _log.info("polling_begins", offset=known)
            self._held, self._offset = True, known
            await self._lease.keep(known)  # what stood in the last holder's way may be over
            self._problem = self._shown = ""
        begun, offset = monotonic(), self._offset
        try:
            updates = await self._fetch()
        except Conflict as error:
            return await self._meet_conflict(error)
        except TelegramError as error:
            await self._tell(describe(error))
            wait = min(error.seconds or 0, MAX_WAIT) if isinstance(error, FloodControl) else 0
            return max(float(wait), self._later())
        await self._tell("")
        if updates:
            await self._keep(updates)
        self._pause = 0.0
        return 0.0 if self._offset != offset else max(FLOOR - (monotonic() - begun), 0.0)

    async def _fetch(self) -> list[Json]:
        """Wait for updates; return none when stopped, which ends the wait at once."""
        fetching = asyncio.ensure_future(self._api.get_updates(self._offset, POLL_SECONDS))
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({fetching, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return fetching.result() if fetching.done() else []
        finally:
            fetching.cancel()
            stopping.cancel()

    async def _keep(self, updates: list[Json]) -> None:
        """Commit each, moving the offset over it only then."""
        start = self._offset
        try:
            for update in sorted(filter(None, map(_numbered, updates)), key=lambda pair: pair[0]):
                await self._keep_one(*update)
        finally:
            if self._offset != start:
                await self._lease.keep(self._offset, self._shown)

    async def _keep_one(self, number: int, update: JsonObject) -> None:
        try:
            await self._take(update)
        except StoreUnavailable:
            raise
        except Exception as error:
            if is_store_error(error):
                raise  # it says nothing of this update: the next one would be left out just so
            # Ours to mend, but it must not hold up everybody's messages indefinitely.
            self._broken[number] += 1
            if self._broken[number] < TRIES:
                raise
            await self._leave_out(update)
            _log.exception("update_left_out", update=number)
        self._broken.pop(number, None)
        self._offset = number + 1

    async def _meet_conflict(self, error: Conflict) -> float:
        await self._tell(describe(error))
        if "webhook is active" in error.message.lower():
            # We are configured to poll, so the webhook is a left-over. What waits is kept.
            _log.warning("webhook_taken_away_for_polling")
            try:
                await self._api.bot.delete_webhook(drop_pending_updates=False)
            except TelegramError as failure:
                _log.warning("webhook_stays", reason=describe(failure))
        return max(_CONFLICT_PAUSE, self._later())

    async def _tell(self, problem: str) -> None:
        """Store the problem where `doctor` finds it; log it when it changes."""
        if problem == self._problem:
            return
        if problem:
            _log.warning("polling_disturbed", reason=problem)
        else:
            _log.info("polling_goes_on")
        self._problem = problem
        self._shown = f"{problem} (since {self._clock.now():%Y-%m-%d %H:%M} UTC)" if problem else ""
        await self._lease.keep(self._offset, self._shown)

    def _later(self) -> float:
        self._pause = min(MAX_PAUSE, max(FIRST_PAUSE, self._pause * 2))
        return self._pause

    async def _rest(self, seconds: float) -> None:
        if not seconds:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return

    async def _release(self) -> None:
        if not self._held:
            return
        try:
            await self._lease.release()
        except StoreUnavailable:
            _log.info("poll_lease_left_to_end")


def _numbered(update: Json) -> tuple[int, JsonObject] | None:
    """Return the update with its number; None without a number, which cannot come from Telegram."""
    if not isinstance(update, dict):
        return None
    try:
        return read_update_id(update), update
    except RequestRefused:
        return None
