"""Long polling: our own getUpdates loop, whose offset moves only after the commit.

A single process polls at a time, by a lease. Another program that polls the same bot makes Telegram answer 409 to
either of the two (core.telegram.org/bots/api#getupdates): that is shown, and retried until it ends.
"""

from collections.abc import Awaitable, Callable
from time import monotonic

import structlog
from telegram.error import Conflict, TelegramError

from channels.poll_lease import PollLease
from channels.polling import NOT_OURS_PAUSE, PollLoop
from channels.telegram.parse import read_update_id
from core.clock import Clock
from core.errors import RequestRefused
from core.json_types import Json, JsonObject
from providers.telegram.client import TelegramApi
from providers.telegram.errors import FloodControl, describe

POLL_SECONDS = 8
"""How long Telegram holds a poll; with the margin for its answer, within the lease."""
MAX_PAUSE = 20.0
FLOOR = 1.0
"""Minimum seconds between two empty polls: a server that does not hold polls is not called continuously."""
MAX_WAIT = 300
"""Maximum seconds for which a request to wait is obeyed; afterwards Telegram is called again."""

_CONFLICT_PAUSE = 2.0

_log = structlog.get_logger()


class Poller:
    """Fetch updates and hand each to `take`, in order, until stopped.

    `take` returns when the update is committed; if it raises, the offset stays where it is. `leave_out` records an
    update that fails again and again, so that later updates come in; a failing store is no reason for that.
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
        self._loop = PollLoop(lease, clock, source="telegram", max_pause=MAX_PAUSE)
        self._take = take
        self._leave_out = leave_out
        self._offset = 0

    @property
    def reads(self) -> bool:
        """Return whether this process is the poller."""
        return self._loop.held

    @property
    def stall(self) -> str:
        """Return why this process reads nothing; empty if it does, or if another process reads."""
        return self._loop.stall

    def stop(self) -> None:
        self._loop.stop()

    async def run(self) -> None:
        """Poll until stopped; failures are retried with growing pauses."""
        await self._loop.run(self._step)

    async def _step(self) -> float:
        """Hold the lease, poll once, commit the updates; return the seconds to wait before the next step."""
        goes_on = self._loop.held
        known = await self._loop.claim()
        if known is None:
            return NOT_OURS_PAUSE
        if not goes_on:
            self._offset = known
        begun, offset = monotonic(), self._offset
        try:
            # None: stopped, which ends the wait at once.
            updates = await self._loop.unless_stopped(self._api.get_updates(self._offset, POLL_SECONDS)) or []
        except Conflict as error:
            return await self._meet_conflict(error)
        except TelegramError as error:
            await self._loop.tell(describe(error))
            wait = min(error.seconds or 0, MAX_WAIT) if isinstance(error, FloodControl) else 0
            return max(float(wait), self._loop.later())
        await self._loop.tell("")
        if updates:
            await self._keep(updates)
        self._loop.went_well()
        return 0.0 if self._offset != offset else max(FLOOR - (monotonic() - begun), 0.0)

    async def _keep(self, updates: list[Json]) -> None:
        """Commit each, moving the offset over it only then."""
        start = self._offset
        try:
            for update in sorted(filter(None, map(_numbered, updates)), key=lambda pair: pair[0]):
                await self._keep_one(*update)
        finally:
            if self._offset != start:
                await self._loop.keep(self._offset)

    async def _keep_one(self, number: int, update: JsonObject) -> None:
        try:
            await self._take(update)
        except Exception as error:
            # Our fault, but it must not hold up all people's messages indefinitely.
            if not self._loop.gives_up(number, error):
                raise
            await self._leave_out(update)
            _log.exception("update_left_out", update=number)
        self._loop.taken(number)
        self._offset = number + 1

    async def _meet_conflict(self, error: Conflict) -> float:
        await self._loop.tell(describe(error))
        if "webhook is active" in error.message.lower():
            # We are configured to poll, so the webhook is a left-over. Waiting updates are kept.
            _log.warning("webhook_taken_away_for_polling")
            try:
                await self._api.bot.delete_webhook(drop_pending_updates=False)
            except TelegramError as failure:
                _log.warning("webhook_stays", reason=describe(failure))
        return max(_CONFLICT_PAUSE, self._loop.later())


def _numbered(update: Json) -> tuple[int, JsonObject] | None:
    """Return the update with its number; None without a number, which cannot come from Telegram."""
    if not isinstance(update, dict):
        return None
    try:
        return read_update_id(update), update
    except RequestRefused:
        return None
