"""The voice of a turn's answer in its path."""

from collections.abc import Sequence

from core.db.database import Connection
from operations.paths.types import PathStep

_ROWS = (
    "select outbound_id, state, reason, tries, seconds, created_at, ended_at from spoken_answers"
    " where tenant_id = $1 and (turn_id = $2 or asked_in = $2) order by created_at, outbound_id"
)


async def read_path(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathStep]:
    return [
        PathStep(
            row["ended_at"] or row["created_at"],
            "VOICE",
            {"id": row["outbound_id"], "state": row["state"], "reason": row["reason"], "seconds": row["seconds"]},
            "Voice",
            row["reason"] or row["state"],
            {"seconds": f"{row['seconds']:.1f}"} if row["seconds"] else {},
            row["created_at"],
        )
        for row in await connection.fetch(_ROWS, tenant_id, turn_id)
    ]
