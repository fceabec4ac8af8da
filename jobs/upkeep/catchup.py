"""Catch-up: messages that providers kept while we were away come in through the same inbox (promise 3)."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog

from core.db.database import Database
from core.errors import LeaseLost, OneValetError
from core.messaging.channels import Channel, Sweep
from core.queue.lease_keepalive import kept_alive

EVERY = timedelta(minutes=3)
LEASE = timedelta(seconds=20)
"""A single worker sweeps an account at a time; if it dies, another worker continues after this time."""
SWEEP_WITHIN = 600.0
"""Seconds; a sweep that takes longer is cut off, and the next sweep continues there."""
IDENTIFY_WITHIN = 20.0

_log = structlog.get_logger()


class KeptSweep(Sweep):
    """A sweep whose position is stored, for as long as this worker holds its lease."""

    def __init__(self, database: Database, channel: Channel, worker: str, place: str) -> None:
        self._database = database
        self._names = (channel.name, channel.account, worker)
        self.place = place

    async def reached(self, place: str) -> None:
        """Store the position; raise `LeaseLost` when another worker has the sweep now."""
        if not await self.keep(place):
            raise LeaseLost
        self.place = place

    async def keep(self, place: str | None = None) -> bool:
        """Renew the lease; return whether it is still held."""
        row = await self._database.call("select keep_catch_up($1,$2,$3,$4,$5) as held", *self._names, LEASE, place)
        return bool(row and row["held"])

    async def end(self, began: datetime) -> None:
        await self._database.call("select end_catch_up($1,$2,$3,$4)", *self._names, began)

    async def leave(self) -> None:
        """Release the lease, so that any worker may continue the sweep."""
        await self._database.call("select leave_catch_up($1,$2,$3)", *self._names)


class CatchUp:
    """Sweep every channel, from the beginning of its last complete sweep."""

    def __init__(self, channels: Sequence[Channel], database: Database, worker: str) -> None:
        self._channels = channels
        self._database = database
        self._worker = worker

    async def once(self) -> None:
        await asyncio.gather(*(self.sweep(channel) for channel in self._channels))

    async def sweep(self, channel: Channel) -> int | None:
        """Sweep a channel under its lease and return the number of new messages.

        None: another worker sweeps it, or it was not possible now.
        """
        try:
            async with asyncio.timeout(IDENTIFY_WITHIN):
                await channel.identify()
            row = await self._database.call(
                "select * from claim_catch_up($1,$2,$3,$4)", channel.name, channel.account, self._worker, LEASE
            )
            if row is None:
                return None
            sweep = KeptSweep(self._database, channel, self._worker, row["place"])
            new = await self._under_lease(channel, row["since"], sweep)
            await sweep.end(row["began"])
        except (OneValetError, TimeoutError) as error:
            _log.warning("catch_up_failed", channel=channel.name, cause=f"{type(error).__name__}: {error}")
            return None
        except Exception:
            # The outermost handler of this sweep: an unforeseen error of a channel must not stop the others.
            _log.exception("catch_up_failed", channel=channel.name)
            return None
        if new:
            _log.warning("missed_messages_found", channel=channel.name, count=new)
        return new

    async def _under_lease(self, channel: Channel, since: datetime | None, sweep: KeptSweep) -> int:
        if since is None:
            # The first sweep of this account: messages from before it was connected were not meant for us.
            return 0
        try:
            async with kept_alive(sweep.keep, LEASE), asyncio.timeout(SWEEP_WITHIN):
                return await channel.catch_up(since, sweep)
        except LeaseLost:
            raise
        except (OneValetError, TimeoutError):
            await sweep.leave()
            raise
