"""The functions of arq's worker. They only ring: the worker's own parts do the work.

The work does not depend on the job: no turn is cut off if Redis goes away, and no job is long.
"""

from collections.abc import Callable
from typing import Any, cast

from arq.typing import WorkerCoroutine
from arq.worker import Function, func

from jobs.later.queueing import COME_DUE

RING = "ring"
"""Key in arq's context of the callback that the functions ring."""
TIMEOUT = 10.0
"""The time limit of a job in seconds, far more than a ring takes. The job of a dead worker is dropped soon after it."""

type Ring = Callable[[str, str], None]
"""Claims a row of a kind of work, unless another worker has it. Returns at once."""


async def come_due(context: dict[str, Any], work: str, row_id: str) -> None:
    """Ring for a row whose moment has come, such as a task's occurrence or a retry."""
    ring: Ring = context[RING]
    ring(work, row_id)


def functions() -> list[Function]:
    """Return the functions in arq's form."""
    return [func(cast(WorkerCoroutine, come_due), name=COME_DUE, keep_result=0, timeout=TIMEOUT, max_tries=1)]
