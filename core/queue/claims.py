"""Rows that a worker claims and works off beside its turns, some of them at a time."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class ClaimedWork[Claim]:
    """One kind of rows. `queue` is where wakeups name them (core.queue.wakeups), and `due` tells that some wait.

    `claim` claims the row that is named, or the one that has waited longest; `run` does its work. At most `slots` are
    worked off at a time, and they are looked for every `poll` in any case.
    """

    name: str
    queue: str
    due: str
    claim: Callable[[str | None], Awaitable[Claim | None]]
    run: Callable[[Claim], Awaitable[None]]
    slots: int = 2
    poll: timedelta = timedelta(seconds=3)
