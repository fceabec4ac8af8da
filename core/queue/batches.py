"""Work that is done in batches of rows."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from core.clock import Clock


async def in_batches(clock: Clock, work: Callable[[datetime], Awaitable[int]]) -> int:
    """Repeat work until it finds nothing more, or until the clock is wrong; return the sum of its counts."""
    total = 0
    while (now := await clock.sound_now()) and (count := await work(now)):
        total += count
    return total
