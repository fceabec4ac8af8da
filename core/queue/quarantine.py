"""Turns that may have killed their worker: who runs them, and whether one waits for that."""

from contextvars import ContextVar
from datetime import timedelta
from enum import StrEnum

from core.db.database import Database
from core.queue.limits import MAX_LANES_PER_TENANT

CURRENT_WORK: ContextVar[str] = ContextVar("current_work", default="")
"""The lane or outbound message that the current task works for: the task that holds a loop tells what blocks it."""
_EVER = timedelta(days=365)


class Suspects(StrEnum):
    """What a process does with turns that may have killed others."""

    HERE = "here"
    """Take them, at a moment when their death would tell."""
    APART = "apart"
    """Leave them to a process of their own, unless they wait for long."""
    ONLY = "only"
    """Be that process: take nothing else."""


async def suspects_wait(database: Database) -> bool:
    """Return whether one waits that could be taken now."""
    row = await database.call("select suspect_waits($1,$2,$3) as wait", MAX_LANES_PER_TENANT, timedelta(), _EVER)
    return bool(row and row["wait"])
