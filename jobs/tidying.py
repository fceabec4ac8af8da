"""Tidying: forgets strangers whose codes have run out, codes that have done their work, and what was long ignored."""

import asyncio
from datetime import timedelta

import structlog

from core.clock import Clock
from core.db.database import Database
from core.errors import StoreUnavailable

EVERY = 60.0
"""Seconds between two looks; every worker may look, and a second one finds nothing."""
IGNORED_KEPT = timedelta(days=30)
"""How long it is kept that a message was ignored: no provider sends one again, and no sweep looks back, so late."""
AT_ONCE = 5000
"""Ignored messages forgotten at a look: a bot in a busy group leaves many behind."""

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
            ignored = await self._database.call("select * from drop_ignored($1,$2)", now - IGNORED_KEPT, AT_ONCE)
        except StoreUnavailable as error:
            _log.warning("tidying_delayed", cause=str(error))
            return
        counts = {
            "strangers": strangers["strangers"] if strangers else 0,
            "link_codes": codes["codes"] if codes else 0,
            "ignored": ignored["messages"] if ignored else 0,
        }
        if any(counts.values()):
            _log.info("tidied", **counts)
