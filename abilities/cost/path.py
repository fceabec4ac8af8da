"""The held answers of a turn in its path: those that it gave, and those about which its person chose."""

from collections.abc import Sequence

import asyncpg

from abilities.cost.held import BECAME
from core.db.database import Connection
from operations.paths.types import Line, PathNote, PathReader

_ROWS = (
    "select h.outbound_id, h.segments, h.asked_at, h.until, h.way, h.chosen_by from held_answers h"
    " join outbound o on o.tenant_id = h.tenant_id and o.id = h.outbound_id"
    " where h.tenant_id = $1 and (o.turn_id = $2 or h.chosen_by = $2) order by h.asked_at, h.outbound_id"
)


async def _read(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[asyncpg.Record]:
    return await connection.fetch(_ROWS, tenant_id, turn_id)


async def _lines(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[Line]:
    return [
        {
            "at": row["asked_at"],
            "what": "HELD",
            "id": row["outbound_id"],
            "segments": row["segments"],
            "state": row["way"] or "asked",
            "until": row["until"],
            "chosen_by": row["chosen_by"],
        }
        for row in await _read(connection, tenant_id, turn_id)
    ]


async def _notes(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathNote]:
    return [
        PathNote(
            row["asked_at"],
            row["asked_at"],
            "Long answer held back",
            BECAME[row["way"]],
            {"segments": str(row["segments"]), "until": f"{row['until']:%Y-%m-%d %H:%M} UTC"},
        )
        for row in await _read(connection, tenant_id, turn_id)
    ]


PATH = PathReader(_lines, _notes)
