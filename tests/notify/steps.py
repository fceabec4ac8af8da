"""Counting the steps of a function, whatever the machine's speed: jumps made and functions entered or gone on with.

What lies between two of them is of a length that stands in the code, so it adds nothing to how steps grow.
"""

import sys
import threading
from collections.abc import Callable

_TOOL = sys.monitoring.PROFILER_ID


def count_steps(work: Callable[[], object]) -> int:
    """Return how many steps the interpreter takes for some work, without those of other threads."""
    steps = 0
    ours = threading.get_ident()

    def step(*_: object) -> None:
        nonlocal steps
        steps += threading.get_ident() == ours

    events = sys.monitoring.events
    watched = (events.JUMP, events.PY_START, events.PY_RESUME)
    sys.monitoring.use_tool_id(_TOOL, "steps")
    try:
        for event in watched:
            sys.monitoring.register_callback(_TOOL, event, step)
        sys.monitoring.set_events(_TOOL, sum(watched))
        work()
    finally:
        sys.monitoring.set_events(_TOOL, 0)
        sys.monitoring.free_tool_id(_TOOL)
    return steps
