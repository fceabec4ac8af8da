"""Catch-up: what providers kept while we were away comes in through the same inbox (promise 3)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

import structlog

from core.channel import Channel
from core.database import Database
from core.errors import OneValetError

EVERY = timedelta(minutes=3)
LEASE = timedelta(minutes=2)
"""Longer than a sweep takes: one worker sweeps an account at a time."""
SWEEP_WITHIN = 90.0
IDENTIFY_WITHIN = 20.0

_log = structlog.get_logger()


class CatchUp:
    """Sweep every channel at the start and every few minutes, from where the last sweep began."""

    def __init__(
        self,
        channels: Sequence[Channel],
        database: Database,
        worker: str,
        *,
        every: timedelta = EVERY,
        pause: Callable[[timedelta], Awaitable[None]] | None = None,
    ) -> None:
        self._channels = channels
        self._database = database
        self._worker = worker
        self._every = every
        self._pause = pause or _sleep

    async def run(self) -> None:
        """Sweep for ever."""
        while True:
            for channel in self._channels:
                await self.sweep(channel)
            await self._pause(self._every)

    async def sweep(self, channel: Channel) -> int | None:
        """Sweep one channel under its lease; None when another worker does, or it was not possible now."""
        try:
            async with asyncio.timeout(IDENTIFY_WITHIN):
                await channel.identify()
            row = await self._database.call(
                "select * from claim_catch_up($1,$2,$3,$4)", channel.name, channel.account, self._worker, LEASE
            )
            if row is None:
                return None
            new = await self._since(channel, row["since"])
            await self._database.call(
                "select end_catch_up($1,$2,$3,$4)", channel.name, channel.account, self._worker, row["began"]
            )
        except (OneValetError, TimeoutError) as error:
            _log.warning("catch_up_failed", channel=channel.name, cause=f"{type(error).__name__}: {error}")
            return None
        if new:
            _log.warning("missed_messages_found", channel=channel.name, count=new)
        return new

    async def _since(self, channel: Channel, since: datetime | None) -> int:
        if since is None:
            # The first sweep of this account: what came before we were there was not meant for us.
            return 0
        async with asyncio.timeout(SWEEP_WITHIN):
            return await channel.catch_up(since)


async def _sleep(span: timedelta) -> None:
    await asyncio.sleep(span.total_seconds())
