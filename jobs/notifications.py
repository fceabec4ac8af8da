"""Notifications over time: what was held comes out, and what did not arrive goes elsewhere."""

import asyncio
import random
from datetime import timedelta

import structlog

from core.clock import Clock
from core.errors import StoreUnavailable
from core.notifications.store import NotificationStore
from jobs.supervision import Part
from notify.service import NotificationService

EVERY = 1.0
"""Seconds between two looks of a worker."""
DELAYS_EVERY = 20.0
"""Seconds between two looks for answers that no channel takes."""
TIDY_EVERY = timedelta(hours=1)
KEPT = timedelta(days=90)
"""How long it can be asked why something was said, or was not."""

_log = structlog.get_logger()


class NotificationRounds:
    """The notifications' part of a worker. Any number of workers may run it."""

    def __init__(self, service: NotificationService, store: NotificationStore, clock: Clock) -> None:
        self._service = service
        self._store = store
        self._clock = clock

    def parts(self) -> tuple[Part, ...]:
        """Return what runs for ever; a database that is away is asked again."""
        return (
            Part("held and undelivered notifications", self._look),
            Part("delayed answers", self._tell_delays),
            Part("old notifications", self._tidy),
        )

    async def once(self) -> int:
        """Let out what is due and send elsewhere what failed; return how many messages that made."""
        if await self._clock.sound_now() is None:
            return 0  # whose quiet hours these are cannot be told
        return await self._service.fall_back() + await self._service.release_held()

    async def _look(self) -> None:
        while True:
            try:
                await self.once()
            except StoreUnavailable as error:
                _log.warning("notifications_delayed", cause=str(error))
            await asyncio.sleep(EVERY * (0.75 + random.random() / 2))

    async def _tell_delays(self) -> None:
        while True:
            try:
                await self._service.tell_delays()
            except StoreUnavailable as error:
                _log.warning("delays_not_told", cause=str(error))
            await asyncio.sleep(DELAYS_EVERY * (0.75 + random.random() / 2))

    async def _tidy(self) -> None:
        while True:
            try:
                while now := await self._clock.sound_now():
                    if not await self._store.prune(now - KEPT):
                        break
            except StoreUnavailable as error:
                _log.warning("notifications_not_tidied", cause=str(error))
            await asyncio.sleep(TIDY_EVERY.total_seconds())
