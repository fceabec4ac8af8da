"""The lines of a run in the path of its turn."""

from collections.abc import Sequence

from core.db.database import Connection
from operations.paths.types import PathStep


async def read_path(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathStep]:
    """Return the cause of a task's run: an event, such as new mail, with the time it was stored; else its moment."""
    rows = await connection.fetch(
        "select r.*, e.received_at, e.source, e.type from task_runs r left join events e on e.tenant_id = r.tenant_id"
        " and e.source = r.cause ->> 'source' and e.id = r.cause ->> 'id' where r.tenant_id = $1 and r.turn_id = $2",
        tenant_id,
        turn_id,
    )
    events = [
        PathStep(row["received_at"], "event", {"id": row["cause"]["id"], "source": row["source"], "type": row["type"]})
        for row in rows
        if row["received_at"]
    ]
    runs = [
        PathStep(row["created_at"], "run", {"id": row["id"], "task": row["task_id"], "due": row["due_at"]})
        for row in rows
    ]
    return [*events, *runs]
