"""Turns that have crashed their worker twice: which process runs them, and whether any such turn waits."""

from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from core.db.database import Database
from core.queue.limits import MAX_LANES_PER_TENANT

CURRENT_WORK: ContextVar[str] = ContextVar("current_work", default="")
"""The lane or outbound message of the current task, to name the work that blocks the event loop."""
_EVER = timedelta(days=365)


class QuarantineMode(StrEnum):
    """How a process treats quarantined turns."""

    TAKE = "take"
    """Run them if nothing else runs here, or if they have waited for a while."""
    LEAVE = "leave"
    """Leave them to a private process, unless they wait for long."""
    ONLY = "only"
    """Run them and nothing else: this is the private process."""


_NO_PATIENCE, _PATIENCE, _LONG_PATIENCE = timedelta(), timedelta(seconds=10), timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class QuarantineFacts:
    """A process that asks for a lane while a turn is quarantined, as `quarantine_facts` sees it.

    `begun`: it began a quarantined turn within ten seconds, or is about to. `idle`: nothing runs in it. `held_up`: a
    quarantined turn has waited for two to ten seconds.
    """

    begun: bool
    idle: bool
    held_up: bool


@dataclass(frozen=True, slots=True)
class ClaimTerms:
    """The lanes that a process may claim: those of quarantined turns after `patience`, the `others` or not."""

    patience: timedelta
    others: bool


USUAL_TERMS = {mode: ClaimTerms(_LONG_PATIENCE, mode is not QuarantineMode.ONLY) for mode in QuarantineMode}
"""The lanes that a process may claim while no turn is quarantined."""


def claim_terms(mode: QuarantineMode, row: dict[str, bool] | None) -> ClaimTerms | None:
    """Return the lanes that a process may claim by `QuarantineFacts`; None if none. `row`: None as for `USUAL_TERMS`.

    A private process claims quarantined turns and nothing else. A worker that has such processes leaves them to these,
    for a while. Any other worker claims them if it is idle, and from the third second on makes room for them.
    """
    if row is None:
        return USUAL_TERMS[mode]
    facts = QuarantineFacts(**row)
    if facts.begun:
        return None
    match mode:
        case QuarantineMode.ONLY:
            return ClaimTerms(_NO_PATIENCE, others=False)
        case QuarantineMode.TAKE:
            return ClaimTerms(_NO_PATIENCE if facts.idle else _PATIENCE, not facts.held_up)
        case QuarantineMode.LEAVE:
            return ClaimTerms(_PATIENCE if facts.idle else _LONG_PATIENCE, others=True)


async def quarantine_waits(database: Database) -> bool:
    """Return whether a quarantined turn is waiting that could run now."""
    row = await database.call("select quarantine_waits($1,$2,$3) as wait", MAX_LANES_PER_TENANT, timedelta(), _EVER)
    return bool(row and row["wait"])
