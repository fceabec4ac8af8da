"""getUpdates: https://core.telegram.org/bots/api#getupdates."""

import asyncio

from workbench.simulator.base import Wire
from workbench.simulator.journal import Json
from workbench.simulator.telegram.arguments import Arguments
from workbench.simulator.telegram.errors import Refusal
from workbench.simulator.telegram.state import World

_WEBHOOK_SET = (
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)
_OTHER_POLLER = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
_SET_MEANWHILE = "Conflict: terminated by setWebhook request"
_LONGEST = 50
_AT_ONCE = 0.5


class Polling:
    """A single long poll at a time: a newer poll ends the older (server source, `abort_long_poll`)."""

    def __init__(self, wire: Wire, world: World) -> None:
        self._wire = wire
        self._world = world
        self._waiting: asyncio.Future[Refusal | None] | None = None
        self._rival_until = 0.0
        self._quiet_until = 0.0
        self._last_offset: int | None = None
        self._last_at = 0.0
        world.updates.on_change(self._wake)

    async def get_updates(self, given: Arguments) -> Json:
        """Answer a call, at once or when something comes. Raises `Refusal`."""
        if self._world.webhook.url:
            raise await self._conflict(_WEBHOOK_SET)
        updates = self._world.updates
        offset, limit = given.integer("offset"), given.integer("limit", 100, 1, 100)
        timeout = float(given.integer("timeout", 0, 0, _LONGEST))
        updates.allow(given.json_or_none("allowed_updates"))
        timeout, limit = self._slowed(offset, timeout, limit)
        batch = [] if updates.held else updates.take(offset, limit)
        if not batch and timeout:
            await self._wait(timeout)
            batch = [] if updates.held else updates.take(offset, limit)
        return [update.to_json() for update in batch]

    def end(self, *, by_webhook: bool = False) -> None:
        """End the poll that waits, with 409."""
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(Refusal(409, _SET_MEANWHILE if by_webhook else _OTHER_POLLER))

    def release(self) -> None:
        """End the waiting poll with nothing, as at its timeout: the bot polls again."""
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(None)

    def rival(self, seconds: float) -> None:
        """Let another instance of the bot poll for so long: each waiting poll of ours is ended with 409.

        Unlike a real rival, it takes no updates away.
        """
        self._rival_until = self._wire.now() + seconds
        self.end()

    @property
    def is_polled(self) -> bool:
        """Return whether a poll waits for updates now."""
        return self._waiting is not None and not self._waiting.done()

    @property
    def has_rival(self) -> bool:
        return self._wire.now() < self._rival_until

    def _slowed(self, offset: int, timeout: float, limit: int) -> tuple[float, int]:
        """Slow down a client that asks for the same again and again (server source, `process_get_updates_query`)."""
        now, pace = self._wire.now(), self._wire.config.pace
        if offset == self._last_offset:
            if timeout < 3 * pace and now < self._last_at + 3 * pace:
                timeout = 3 * pace
            if now < self._last_at + 0.5 * pace:
                limit = 1
        self._last_offset, self._last_at = offset, now
        return timeout, limit

    async def _wait(self, timeout: float) -> None:
        self.end()
        waiting = self._waiting = asyncio.get_running_loop().create_future()
        stopping = asyncio.ensure_future(self._wire.stopping.wait())
        if self.has_rival:
            timeout = min(timeout, _AT_ONCE * self._wire.config.pace)
        try:
            await asyncio.wait({waiting, stopping}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            if self._waiting is waiting:
                self._waiting = None
        refusal = waiting.result() if waiting.done() else None
        if refusal is None and self.has_rival and not waiting.done():
            refusal = Refusal(409, _OTHER_POLLER)
        if refusal:
            raise await self._conflict(refusal.description)

    async def _conflict(self, words: str) -> Refusal:
        """Return the refusal: at once the first time, later refusals 3 s late (server source)."""
        now, rest = self._wire.now(), 3 * self._wire.config.pace
        if now < self._quiet_until:
            await self._wire.wait(3)
        else:
            self._quiet_until = now + rest
        return Refusal(409, words)

    def _wake(self) -> None:
        if not self._world.updates.held:
            self.release()
