"""What time does to approvals: it starts when the card is sent, reminds before the end, and ends."""

import asyncio

import structlog

from core.approvals.cards import DRAW, REMINDER
from core.approvals.store import ApprovalStore
from core.clock import Clock
from core.errors import StoreUnavailable
from core.ids import IdMaker

EVERY = 2.0
"""Seconds between two looks: one indexed query each."""

_log = structlog.get_logger()


class ApprovalUpkeep:
    """Look after the approvals of all people; every worker may."""

    def __init__(self, store: ApprovalStore, clock: Clock, make_id: IdMaker) -> None:
        self._store = store
        self._clock = clock
        self._make_id = make_id

    async def run(self) -> None:
        """Look after them for ever; a database that is away is asked again the next time."""
        while True:
            try:
                await self.once()
            except StoreUnavailable as error:
                _log.warning("approvals_delayed", cause=str(error))
            await asyncio.sleep(EVERY)

    async def once(self) -> None:
        """Look once."""
        now = await self._clock.sound_now()
        if now is None:
            return  # what expires by a wrong clock never comes back
        await self._store.sweep_cards(now)
        for tenant_id, approval_id in await self._store.due_reminders(now):
            await self._store.remind(tenant_id, approval_id, REMINDER, self._make_id("out"), now)
        await self._store.scrub(now)
        if ended := await self._store.expire(now, DRAW["expired"]):
            _log.info("approvals_expired", count=ended)
