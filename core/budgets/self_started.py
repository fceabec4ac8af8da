"""Model calls that nobody waits for: none in a person's quiet hours, whichever work makes them."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Protocol

from core.clock import Clock, zone_or_utc
from core.db.database import Database
from core.errors import OneValetError
from core.people.tenant import QuietHours


class NotNow(OneValetError):
    """Self-started work may not ask a model now; it may after `pause`, in the machine's time."""

    def __init__(self, pause: timedelta = timedelta()) -> None:
        super().__init__("no model is asked now")
        self.pause = pause


class MayAsk(Protocol):
    """Decides whether self-started work may ask a model for a person."""

    async def check(self, tenant_id: str, work: str = "") -> None:
        """Raise `NotNow` if it may not. `work`: the purpose of the call, by which it is counted as spared."""
        ...


@dataclass(frozen=True, slots=True)
class SparedCalls:
    """Counts calls that were not made, by person and work; an ability opens it."""

    count: Callable[[str, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class OutsideQuietHours:
    """Lets self-started work ask models while its person's quiet hours are over."""

    database: Database
    clock: Clock
    spared: SparedCalls | None = None

    async def until(self, tenant_id: str) -> datetime | None:
        """Return when a person's quiet hours end, in UTC; None outside them."""
        statement = "select quiet_from, quiet_until, timezone from tenants where tenant_id = $1"
        row = await self.database.tenant_row(tenant_id, statement)
        if row is None or not row["quiet_from"]:
            return None
        hours = QuietHours(time.fromisoformat(row["quiet_from"]), time.fromisoformat(row["quiet_until"]))
        return hours.ending(self.clock.now(), zone_or_utc(row["timezone"]))

    async def check(self, tenant_id: str, work: str = "") -> None:
        if (end := await self.until(tenant_id)) is not None:
            if self.spared and work:
                await self.spared.count(tenant_id, work)
            seconds = self.clock.real_seconds((end - self.clock.now()).total_seconds())
            raise NotNow(timedelta(seconds=min(seconds, timedelta(days=1).total_seconds())))


class Never:
    """Lets nothing ask a model."""

    async def check(self, tenant_id: str, work: str = "") -> None:
        raise NotNow


_may_ask: ContextVar[MayAsk | None] = ContextVar("may_ask", default=None)


@dataclass(frozen=True, slots=True)
class SelfStarted[**Given, Result]:
    """A function that starts by itself: `may_ask` decides about its model calls."""

    may_ask: MayAsk
    work: Callable[Given, Awaitable[Result]]

    async def __call__(self, *given: Given.args, **named: Given.kwargs) -> Result:
        """Do the work. The tasks that it creates are self-started, too."""
        before = _may_ask.set(self.may_ask)
        try:
            return await self.work(*given, **named)
        finally:
            _may_ask.reset(before)


async def check_self_started(tenant_id: str, work: str = "") -> None:
    """Raise `NotNow` if the present work is self-started and may ask no model for a person now."""
    if (may_ask := _may_ask.get()) is not None:
        await may_ask.check(tenant_id, work)
