"""Time as a busy process sees it: what a call may take, and how long ago something was committed.

A loop that was held up (another task computed, the machine was overloaded or asleep) finds the answers of its calls
waiting in its sockets. A plain timeout would discard them, and the messages would be sent twice.
"""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

STEP = 0.5
"""The most seconds that one interval counts: more pass only while the loop is held up."""


async def within[T](seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`; raise `TimeoutError` once the loop has waited `seconds` for it.

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
        return task.result()  # the answer came in during the cancellation
    raise TimeoutError


def elapsed() -> float:
    """Return seconds since an arbitrary moment, including those in which the machine slept."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
