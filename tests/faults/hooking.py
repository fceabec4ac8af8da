"""How points are put around what a process does: it dies when it reaches the one that is its own."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any

BEGUN = 0.7
"""Seconds after which work that another side keeps waiting has begun there."""

type Reach = Callable[[str], Awaitable[None]]
"""Die if this is the point."""
type IsDue = Callable[[str], bool]
"""Return whether this is the point."""


def put_around(owner: Any, name: str, point: str, reach: Reach) -> None:
    """Put a point before and one after a method of a class."""
    real = getattr(owner, name)

    async def struck(*given: Any, **named: Any) -> Any:
        await reach(f"{point} before")
        made = await real(*given, **named)
        await reach(f"{point} after")
        return made

    setattr(owner, name, struck)


async def within[T](work: Awaitable[T], point: str, is_due: IsDue, after: float = BEGUN) -> T:
    """Do the work, or die in the middle of it. `after`: seconds."""
    if is_due(point):
        await die_within(work, after)
    return await work


async def die_within(work: Awaitable[Any], after: float = BEGUN) -> None:
    """Begin the work, and die so many seconds later, whether it has ended by then or not."""
    working = asyncio.ensure_future(work)
    await asyncio.wait([working], timeout=after)
    os.kill(os.getpid(), signal.SIGKILL)
