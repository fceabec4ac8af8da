"""Time as a busy process sees it: what a call may take, and how long ago something was committed.

A loop that was held up (another task computed, the machine was overloaded or asleep) finds the answers of its calls
waiting in its sockets. A plain timeout would throw them away, and what was said would be said again.
"""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

STEP = 0.5
"""The most seconds that one look at the time counts: more has passed only where the loop was held up."""


async def within[T](seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Return what `work` returns; raise `TimeoutError` once the loop has waited so many seconds for it.

    Seconds in which the loop did not run are not counted.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work, name="within")
    left = seconds
    try:
        while left > 0:
            began = loop.time()
            await asyncio.wait({task}, timeout=min(left, STEP))
            if task.done():
                return task.result()
            left -= min(loop.time() - began, STEP)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
    if not task.cancelled():
        return task.result()  # it came in while it was being cancelled
    raise TimeoutError


def elapsed() -> float:
    """Return seconds since some moment, those included in which the machine slept."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
