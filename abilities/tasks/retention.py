"""How long runs are kept, and tasks that have ended."""

from datetime import timedelta

import structlog

from abilities.tasks.store import TaskStore

RUNS_KEPT = timedelta(days=90)
"""The time for which a run can be explained, unless the operator sets another time."""

_log = structlog.get_logger()


async def prune_runs(store: TaskStore, kept: timedelta = RUNS_KEPT) -> int:
    """Delete runs, with their journals, and tasks that ended longer than `kept` ago. Return their number."""
    total = 0
    while pruned := await store.prune(kept):
        total += pruned
    if total:
        _log.info("runs_tidied", count=total)
    return total
