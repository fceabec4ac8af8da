"""The held answers of a turn in its path: those that it gave, and those about which its person chose."""

from collections.abc import Sequence

from abilities.cost.held import BECAME
from core.db.database import Connection
from operations.paths.types import PathStep

_ROWS = (
    "select h.outbound_id, h.segments, h.asked_at, h.until, h.way, h.chosen_by from held_answers h"
    " join outbound o on o.tenant_id = h.tenant_id and o.id = h.outbound_id"
    " where h.tenant_id = $1 and (o.turn_id = $2 or h.chosen_by = $2) order by h.asked_at, h.outbound_id"
)


async def read_path(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathStep]:
    return [
        PathStep(
            row["asked_at"],
            "HELD",
            {
                "id": row["outbound_id"],
                "segments": row["segments"],
                "state": row["way"] or "asked",
                "until": row["until"],
                "chosen_by": row["chosen_by"],
            },
            "Long answer held back",
            BECAME[row["way"]],
            {"segments": str(row["segments"]), "until": f"{row['until']:%Y-%m-%d %H:%M} UTC"},
        )
        for row in await connection.fetch(_ROWS, tenant_id, turn_id)
    ]
