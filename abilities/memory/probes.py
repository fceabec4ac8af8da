"""`doctor`'s check of memory's jobs."""

from core.db.database import Database
from core.messaging.channels import Check
from operations.doctor.types import Area, over_database


async def check_jobs(database: Database) -> list[Check]:
    """Check for jobs that failed so often that they are not tried any more."""
    row = await database.one("select * from count_memory_set_aside()")
    if not row["jobs"]:
        return []
    return [Check("memory jobs", True, f"{row['jobs']} not tried any more", "the log says why: memory_job_set_aside")]


PROBES = (over_database(Area.DATABASE, "memory jobs", check_jobs),)
