"""The places that a turn's messages brought, in its path: with time and accuracy, never the place."""

from collections.abc import Sequence

import asyncpg

from core.db.database import Connection
from operations.paths.types import PathStep

_ROWS = (
    "select s.how, s.accuracy, s.at, s.latitude is null as forgotten, i.received_at, i.id"
    " from seen_places s join inbound i on i.tenant_id = s.tenant_id and i.id = s.inbound_id"
    " where s.tenant_id = $1 and i.turn_id = $2 order by i.seq"
)


async def read_path(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathStep]:
    return [
        PathStep(
            row["received_at"],
            "place",
            {
                "id": row["id"],
                "how": row["how"],
                "accuracy_m": row["accuracy"],
                "last_at": row["at"],
                "state": "forgotten" if row["forgotten"] else "kept",
            },
            "place",
            _note(row),
        )
        for row in await connection.fetch(_ROWS, tenant_id, turn_id)
    ]


def _note(row: asyncpg.Record) -> str:
    exact = "" if row["accuracy"] is None else f", known to {round(row['accuracy'])} m"
    return f"{row['how']}{exact}{', forgotten since' if row['forgotten'] else ''}"
