"""Groups in a turn's path: who asked in a group, and the group from which a person's own words came."""

from collections.abc import Sequence

from core.db.database import Connection
from operations.paths.types import PathStep

_ASKED = (
    "select i.received_at as at, i.id, g.title, a.name from group_askers a"
    " join inbound i on i.tenant_id = a.tenant_id and i.id = a.inbound_id"
    " join group_chats g on g.tenant_id = a.tenant_id where a.tenant_id = $1 and i.turn_id = $2 order by i.seq"
)
_CAME = (
    "select r.at, r.inbound_id as id, r.group_id from group_requests r"
    " join inbound i on i.tenant_id = r.tenant_id and i.id = r.inbound_id"
    " where r.tenant_id = $1 and i.turn_id = $2 order by r.at"
)


async def read_path(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathStep]:
    asked = [
        PathStep(
            row["at"],
            "ASKED IN A GROUP",
            {"id": row["id"], "by": row["name"], "group": row["title"]},
            f"Asked by {row['name']} in the group {row['title']}",
        )
        for row in await connection.fetch(_ASKED, tenant_id, turn_id)
    ]
    came = [
        PathStep(
            row["at"],
            "CAME FROM A GROUP",
            {"id": row["id"], "group": row["group_id"]},
            f"Came from the group {row['group_id']}",
        )
        for row in await connection.fetch(_CAME, tenant_id, turn_id)
    ]
    return asked + came
