"""The tables of tasks, all with rows of people, and their rules for merge, export and deletion."""

from core.language.catalogue import ngettext_noop
from core.people.table_rules import Archived, Archiving, Belonging, Merge, NewValues, PersonTable

_ENDED: NewValues = dict.fromkeys(("QUEUED", "RUNNING", "PENDING_APPROVAL"), "CANCELLED")

TABLES = (
    PersonTable(
        "tasks",
        Belonging(Merge.NUMBER, ngettext_noop("{number} task", "{number} tasks")),
        leads=(("notifications", "task_id", "id"),),
    ),
    PersonTable(
        "task_runs",
        Belonging(Merge.MOVE),
        (("task_id", "tasks", "id"),),
        Archiving(ended={"state": _ENDED}),
        leads=(("lanes", "id", "id"), ("notifications", "run_id", "id")),
    ),
    PersonTable(
        "run_notices",
        Belonging(Merge.MOVE),
        (("run_id", "task_runs", "id"),),
        Archiving(ended={"state": {"open": "failed"}}),
    ),
    PersonTable("reminder_permits", Belonging(Merge.FIRST), archive=Archiving(Archived.TOLD)),
    PersonTable(
        "reminder_wishes", Belonging(Merge.FIRST), (("task_id", "tasks", "id"),), archive=Archiving(Archived.TOLD)
    ),
)
