"""The voice of a turn's answer in its path."""

from collections.abc import Sequence

from core.db.database import Connection
from operations.paths.types import Line, PathNote, PathReader

_ROWS = (
    "select outbound_id, state, reason, tries, seconds, created_at, ended_at from spoken_answers"
    " where tenant_id = $1 and (turn_id = $2 or asked_in = $2) order by created_at, outbound_id"
)


async def _lines(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[Line]:
    rows = await connection.fetch(_ROWS, tenant_id, turn_id)
    return [
        {
            "at": row["ended_at"] or row["created_at"],
            "what": "VOICE",
            "id": row["outbound_id"],
            "state": row["state"],
            "reason": row["reason"],
            "seconds": row["seconds"],
        }
        for row in rows
    ]


async def _notes(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathNote]:
    rows = await connection.fetch(_ROWS, tenant_id, turn_id)
    return [
        PathNote(
            row["created_at"],
            row["ended_at"] or row["created_at"],
            "Voice",
            row["reason"] or row["state"],
            {"seconds": f"{row['seconds']:.1f}"} if row["seconds"] else {},
        )
        for row in rows
    ]


PATH = PathReader(_lines, _notes)
