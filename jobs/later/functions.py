"""The functions of arq's worker. They say that a moment has come; what they ring does the work.

The work goes on whatever becomes of the job: a Redis that goes away cuts off no turn, and no job is long.
"""

from collections.abc import Callable
from typing import Any, cast

from arq.typing import WorkerCoroutine
from arq.worker import Function, func

from core.queue.later import COME_DUE

RING = "ring"
"""What the functions ring, in arq's context."""
TIMEOUT = 10.0
"""Seconds that a job may take, far more than a ring does. The job of a worker that died is dropped soon after it."""

type Ring = Callable[[str, str], None]
"""Take in hand a row of a kind of work. It returns at once, and claims nothing that another has."""


async def come_due(context: dict[str, Any], work: str, row_id: str) -> None:
    """Have a row claimed whose moment has come: a task's occurrence, or what is tried again."""
    ring: Ring = context[RING]
    ring(work, row_id)


def functions() -> list[Function]:
    """Return the functions as arq wants them."""
    return [func(cast(WorkerCoroutine, come_due), name=COME_DUE, keep_result=0, timeout=TIMEOUT, max_tries=1)]
