"""How long tests wait for what is certain to come: longer on a machine that is slow at the moment."""

import os
import time

PATIENCE = 60.0
"""Seconds on a quiet machine. A wait ends with what it waits for: only a failure takes so long."""
MOST = 4.0
"""How many times longer a wait may be at the most, so that it says what it lacks before pytest's own limit ends it."""
_WORK = 20_000
"""Additions that show how slowly this thread runs: about a millisecond."""


def patience(seconds: float = PATIENCE) -> float:
    """Return a span of a quiet machine as it has to be on this one now."""
    return seconds * min(MOST, slowness())


def slowness() -> float:
    """Return how many times longer than on a quiet machine work takes now, as measured; at least 1.

    A thread that computes needs as much wall clock as CPU, unless others take the cores away from it. What waits in
    line besides (the load) says the same of the processes that a test waits for.
    """
    wall, used = time.perf_counter(), time.thread_time()
    total = 0
    for number in range(_WORK):
        total += number
    wall, used = time.perf_counter() - wall, time.thread_time() - used
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    return max(1.0, wall / used if used > 0 else 1.0, load)
