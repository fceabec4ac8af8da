"""Turns that have crashed their worker twice: who runs them, and whether one waits for that."""

from contextvars import ContextVar
from datetime import timedelta
from enum import StrEnum

from core.db.database import Database
from core.queue.limits import MAX_LANES_PER_TENANT

CURRENT_WORK: ContextVar[str] = ContextVar("current_work", default="")
"""The lane or outbound message that the current task works for: the task that holds a loop tells what blocks it."""
_EVER = timedelta(days=365)


class QuarantineMode(StrEnum):
    """What a process does with quarantined turns."""

    TAKE = "take"
    """Run them when nothing else runs here, or when they have waited for a while."""
    LEAVE = "leave"
    """Leave them to a private process, unless they wait for long."""
    ONLY = "only"
    """Be that process: take nothing else."""


async def quarantine_waits(database: Database) -> bool:
    """Return whether a quarantined turn waits that could be taken now."""
    row = await database.call("select quarantine_waits($1,$2,$3) as wait", MAX_LANES_PER_TENANT, timedelta(), _EVER)
    return bool(row and row["wait"])
