"""The other person's part in a turn's path: whose consent an action needs, or for whom a card was shown."""

from collections.abc import Sequence

from core.db.database import Connection
from operations.paths.types import Line, PathNote, PathReader

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


async def _lines(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[Line]:
    lines: list[Line] = [
        {
            "at": row["at"],
            "what": "CONSENT OF ANOTHER",
            "id": row["approval_id"],
            "state": row["state"],
            **({"reason": row["reason"]} if row["reason"] else {}),
            **({"how": row["how"], "channel": row["decided_on"]} if row["how"] else {}),
        }
        for row in await connection.fetch(_ROWS, tenant_id, turn_id)
    ]
    asked = await connection.fetch(_ASKED_BY, tenant_id, turn_id)
    lines += [
        {"at": row["at"], "what": "ASKED FOR ANOTHER", "id": row["approval"], "state": row["state"]} for row in asked
    ]
    return lines


async def _notes(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathNote]:
    notes = [
        PathNote(
            row["at"],
            row["until"],
            f"Needs the consent of {row['other_name']}, too",
            row["reason"] or row["state"],
            {"decided by": f"{row['how']}, {row['decided_on']}"} if row["how"] else {},
        )
        for row in await connection.fetch(_ROWS, tenant_id, turn_id)
    ]
    asked = await connection.fetch(_ASKED_BY, tenant_id, turn_id)
    return notes + [PathNote(row["at"], row["at"], f"Asked for {row['who']}", row["state"]) for row in asked]


PATH = PathReader(_lines, _notes)
