"""What a channel may show a person of their own besides the talk: what waits for them, and what comes next."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable
from zoneinfo import ZoneInfo

from core.messaging.messages import Address


@dataclass(frozen=True, slots=True)
class WaitingDecision:
    """An approval that is open. `until` is None while its expiry has not begun."""

    code: str
    summary: str
    asked_at: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class ComingTask:
    """A scheduled task, a reminder among them, and when it is due next. `number` is the person's name for it."""

    number: int
    title: str
    due_at: datetime


@dataclass(frozen=True, slots=True)
class Overview:
    """One person's page, read at `now`; times are shown in `zone`. `more_…` count what is left out."""

    now: datetime
    zone: ZoneInfo
    decisions: tuple[WaitingDecision, ...] = ()
    tasks: tuple[ComingTask, ...] = ()
    more_decisions: int = 0
    more_tasks: int = 0
    language: str | None = None
    """The person's; a BCP 47 tag."""


@runtime_checkable
class OverviewSource(Protocol):
    """Optional capability of an inbox: tell what its channel may show on a page of the person's."""

    async def overview(self, address: Address, user_key: str) -> Overview | None:
        """Return the page of the person who writes from there; None for a stranger. Raises `StoreUnavailable`.

        Of `address`, only channel and account count.
        """
        ...

    async def language(self, address: Address, user_key: str) -> str:
        """Return the language of the person who writes from there, empty for none. Raises `StoreUnavailable`."""
        ...
