"""Tidying: forgets strangers whose codes have run out, codes that have done their work, and old notes of strangers."""

import asyncio
from datetime import timedelta

import structlog

from core.clock import Clock
from core.database import Database
from core.errors import StoreUnavailable

EVERY = 60.0
"""Seconds between two looks; every worker may look, and a second one finds nothing."""
UNKNOWN_KEPT = timedelta(days=30)
"""How long it is kept that a stranger wrote: no provider sends anything again, and no sweep looks back, so late."""

_log = structlog.get_logger()


class Tidying:
    """Forget what nobody needs any more."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def run(self) -> None:
        """Look after it for ever; a database that is away is asked again the next time."""
        while True:
            await self.once()
            await asyncio.sleep(EVERY)

    async def once(self) -> None:
        """Look once."""
        try:
            now = await self._clock.sound_now()
            if now is None:
                return
            strangers = await self._database.call("select * from drop_strangers($1)", now)
            codes = await self._database.call("select * from drop_link_codes($1)", now)
            unknown = await self._database.call("select * from drop_unknown($1)", now - UNKNOWN_KEPT)
        except StoreUnavailable as error:
            _log.warning("tidying_delayed", cause=str(error))
            return
        counts = {
            "strangers": strangers["strangers"] if strangers else 0,
            "link_codes": codes["codes"] if codes else 0,
            "unknown": unknown["messages"] if unknown else 0,
        }
        if any(counts.values()):
            _log.info("tidied", **counts)
