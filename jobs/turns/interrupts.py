"""Stops of the turns that run in this process, and the leases that they keep meanwhile."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager

import structlog

from core.errors import StoreUnavailable
from core.journal.types import Lease
from core.loop.control import InterruptSignal
from core.queue.lease_keepalive import kept_alive
from core.turns.store import TurnStore
from core.turns.stored import BegunTurn

_log = structlog.get_logger()


class Interrupts:
    """The turns that run in this process, by lane. A notice of a stop is only a hint: the stop is in Postgres."""

    def __init__(self, store: TurnStore) -> None:
        self._store = store
        self._running: dict[str, tuple[Lease, InterruptSignal]] = {}

    @contextmanager
    def reach(self, lease: Lease, turn: BegunTurn) -> Iterator[None]:
        """Cut off the turn's calls to models when its person asks to stop inside the block."""
        control = turn.request.work.control
        if control is None:
            yield
            return
        self._running[lease.lane_id] = ours = lease, control.signal
        try:
            yield
        finally:
            if self._running.get(lease.lane_id) is ours:
                del self._running[lease.lane_id]

    def kept_alive(self, lease: Lease) -> AbstractAsyncContextManager[None]:
        """Renew a lane's lease inside the block; each renewal also finds a stop whose notice was lost."""

        async def renew() -> bool:
            _, signal = self._running.get(lease.lane_id, (lease, None))
            return await self._store.renew(lease, signal)

        return kept_alive(renew, self._store.lease)

    async def look(self, lane_id: str) -> None:
        """Look for a stop of the lane's turn, if it runs here."""
        if (running := self._running.get(lane_id)) is None:
            return
        try:
            await self._store.look_for_interrupt(*running)
        except StoreUnavailable as error:
            _log.warning("stop_not_read", lane=lane_id, cause=str(error))  # the next renewal reads it
