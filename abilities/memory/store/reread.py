"""The job that has a model read the rules' statements again: a job for each person."""

from datetime import timedelta

from core.db.database import Database

REREAD = "reading"
"""The id of this job."""


async def schedule_reread(database: Database, tenant_id: str) -> None:
    """Schedule a job to extract again the memories that only rules have read."""
    await database.tenant_rows(
        tenant_id,
        "insert into memory_jobs (tenant_id, id, not_before) values ($1, $2, clock_timestamp() + $3)"
        " on conflict do nothing",
        REREAD,
        delay_after(3),
    )


def delay_after(attempts: int) -> timedelta:
    """Return the pause of a job after a number of failures."""
    return timedelta(seconds=min(5 * 4 ** max(attempts - 1, 0), 3600))
