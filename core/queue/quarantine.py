"""Turns that have crashed their worker twice: which process runs them, and whether any such turn waits."""

from contextvars import ContextVar
from datetime import timedelta
from enum import StrEnum

from core.db.database import Database
from core.queue.limits import MAX_LANES_PER_TENANT

CURRENT_WORK: ContextVar[str] = ContextVar("current_work", default="")
"""The lane or outbound message of the current task, to name the work that blocks the event loop."""
_EVER = timedelta(days=365)


class QuarantineMode(StrEnum):
    """A process' way with quarantined turns."""

    TAKE = "take"
    """Run them if nothing else runs here, or if they have waited for a while."""
    LEAVE = "leave"
    """Leave them to a private process, unless they wait for long."""
    ONLY = "only"
    """Run them and nothing else: this is the private process."""


async def quarantine_waits(database: Database) -> bool:
    """Return whether a quarantined turn is waiting that could run now."""
    row = await database.call("select quarantine_waits($1,$2,$3) as wait", MAX_LANES_PER_TENANT, timedelta(), _EVER)
    return bool(row and row["wait"])
