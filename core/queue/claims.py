"""Rows that a worker claims and processes beside its turns."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class ClaimedWork[Claim]:
    """A kind of row. Wakeups put its ids into `queue` (core.queue.wakeups); `due` is its kind of due work.

    `claim` claims the named row, or without a name the row that has waited longest; `run` does its work. At most
    `slots` rows run at a time. Without any wakeup, a worker claims every `poll`. `awaited`: its person waits for it.
    """

    name: str
    queue: str
    due: str
    claim: Callable[[str | None], Awaitable[Claim | None]]
    run: Callable[[Claim], Awaitable[None]]
    slots: int = 2
    poll: timedelta = timedelta(seconds=3)
    awaited: bool = False
