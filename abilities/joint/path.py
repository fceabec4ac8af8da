"""The other person's part in a turn's path: whose consent an action needs, or for whom a card was shown."""

from collections.abc import Sequence

from core.db.database import Connection
from operations.paths.types import PathStep

_ROWS = (
    "select j.made_at as at, coalesce((j.agreed ->> 'decided_at')::timestamptz, j.made_at) as until, j.other_name,"
    " j.approval_id, j.state, j.reason, j.agreed ->> 'how' as how, j.agreed ->> 'decided_on' as decided_on"
    " from joint_consents j join approvals a on a.tenant_id = j.tenant_id and a.id = j.approval_id"
    " where j.tenant_id = $1 and a.turn_id = $2 order by j.made_at, j.approval_id"
)
_ASKED_BY = (
    "select a.created_at as at, a.id, a.state, a.arguments ->> 'who' as who, a.arguments ->> 'approval' as approval"
    " from approvals a join turns t on t.tenant_id = a.tenant_id and t.id = a.turn_id"
    " where a.tenant_id = $1 and a.turn_id = $2 and t.reason = 'asks'"
)


async def read_path(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathStep]:
    steps = [
        PathStep(
            row["until"],
            "CONSENT OF ANOTHER",
            {
                "id": row["approval_id"],
                "state": row["state"],
                **({"reason": row["reason"]} if row["reason"] else {}),
                **({"how": row["how"], "channel": row["decided_on"]} if row["how"] else {}),
            },
            f"Needs the consent of {row['other_name']}, too",
            row["reason"] or row["state"],
            {"decided by": f"{row['how']}, {row['decided_on']}"} if row["how"] else {},
            row["at"],
        )
        for row in await connection.fetch(_ROWS, tenant_id, turn_id)
    ]
    steps += [
        PathStep(
            row["at"],
            "ASKED FOR ANOTHER",
            {"id": row["approval"], "state": row["state"]},
            f"Asked for {row['who']}",
            row["state"],
        )
        for row in await connection.fetch(_ASKED_BY, tenant_id, turn_id)
    ]
    return steps
