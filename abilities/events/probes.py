"""`doctor`'s check of the events that could not be handled."""

from collections.abc import Sequence

from core.db.database import Database
from core.language.counted import counted
from core.messaging.channels import Check
from operations.doctor.types import Area, over_database


async def check_set_aside(database: Database) -> Sequence[Check]:
    """Check for events that an unforeseen error set aside and that can be retried."""
    count = await database.one("select number from find_set_aside_work() where kind = 'event'")
    if not count["number"]:
        return []
    fix = "see the log for each, then `events list --set-aside` and `events retry`"
    return [Check("events set aside", False, counted(count["number"], "event"), fix)]


PROBES = (over_database(Area.WORK, "events set aside", check_set_aside),)
