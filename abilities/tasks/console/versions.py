"""The versions of the pages about tasks, which change with their contents."""

from collections.abc import Mapping

from core.db.database import Database
from operations.console.access import Viewer
from operations.console.live import SHOWN, read_version, short_version


async def version_of_list(database: Database, viewer: Viewer, _: Mapping[str, str]) -> str:
    """Return the version of the first page of tasks."""
    if not viewer.operator:
        return await read_version(
            database,
            viewer.tenant_id,
            "select count(*) || '.' || coalesce(sum(revision), 0) || '.' || coalesce(sum(fired), 0) as version"
            " from tasks where tenant_id = $1 and deleted_at is null",
        )
    rows = await database.rows("select * from console_tasks('', '', '', $1)", SHOWN)
    return short_version("".join(f"{row['task_id']}{row['state']}{row['next_at']}" for row in rows))


async def version_of_task(database: Database, _: Viewer, parts: Mapping[str, str]) -> str:
    """Return the version of a task's page."""
    return await read_version(
        database,
        parts["person"],
        "select t.state || t.revision || '.' || t.fired || coalesce(t.next_at::text, '') || coalesce("
        " (select string_agg(r.state, ',' order by r.created_at desc, r.id desc) from (select * from task_runs n"
        "  where n.tenant_id = $1 and n.task_id = $2 order by n.created_at desc, n.id desc limit 10) r), '')"
        " as version from tasks t where t.tenant_id = $1 and t.id = $2",
        parts["task"],
    )
