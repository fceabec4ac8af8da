"""The overview that a channel may show a person beside the talk: waiting decisions and coming tasks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable
from zoneinfo import ZoneInfo

from core.messaging.messages import Address


@dataclass(frozen=True, slots=True)
class WaitingDecision:
    """An open approval. `until` is None as long as its expiry has not begun."""

    code: str
    summary: str
    asked_at: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class ComingTask:
    """A scheduled task or reminder with its next time. `number`: its number for the person."""

    number: int
    title: str
    due_at: datetime


@dataclass(frozen=True, slots=True)
class Overview:
    """The overview of a person as of `now`; times are shown in `zone`. `more_…`: the number of omitted entries."""

    now: datetime
    zone: ZoneInfo
    decisions: tuple[WaitingDecision, ...] = ()
    tasks: tuple[ComingTask, ...] = ()
    more_decisions: int = 0
    more_tasks: int = 0
    language: str | None = None
    """The person's language as a BCP 47 tag."""


@runtime_checkable
class OverviewSource(Protocol):
    """Optional capability of an inbox: return a person's overview."""

    async def overview(self, address: Address, user_key: str) -> Overview | None:
        """Return the overview of the person who writes from there; None for a stranger. Raises `StoreUnavailable`.

        Only the channel and the account of `address` count.
        """
        ...

    async def language(self, address: Address, user_key: str) -> str:
        """Return the language of the person who writes from there, empty for none. Raises `StoreUnavailable`."""
        ...
