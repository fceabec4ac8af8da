"""`doctor`'s check of tasks and their notices."""

from collections.abc import Sequence

from abilities.tasks.store import TaskStore
from core.db.database import Database
from core.language.counted import counted
from core.messaging.channels import Check
from operations.doctor.types import Area, over_database

_SHOWN = 5
"""How many tasks are named."""


async def check_set_aside(database: Database) -> Sequence[Check]:
    """Check for tasks and notices that an unforeseen error set aside and that can be retried."""
    rows = await database.rows("select kind, number from find_set_aside_work()")
    count = {row["kind"]: row["number"] for row in rows}
    if not count["task"] and not count["notice"]:
        return []
    tasks = await TaskStore(database).find_set_aside(_SHOWN)
    named = "; ".join(f"task {task.number} of {task.tenant_id} ({task.cause})" for task in tasks)
    detail = ", ".join(counted(count[noun], noun) for noun in ("task", "notice"))
    detail += f": {named}{' …' if count['task'] > len(tasks) else ''}" if named else ""
    return [Check("tasks set aside", False, detail, "see the log for each, then `tasks retry`")]


PROBES = (over_database(Area.WORK, "tasks set aside", check_set_aside),)
