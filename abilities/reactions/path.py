"""The reactions to a turn's messages, in its path."""

from collections.abc import Sequence

from core.db.database import Connection
from operations.paths.types import PathStep

_ROWS = (
    "select f.at, f.emoji, f.given, f.outbound_id from feedback f"
    " join outbound o on o.tenant_id = f.tenant_id and o.id = f.outbound_id"
    " where f.tenant_id = $1 and o.turn_id = $2 order by f.at, f.emoji"
)


async def read_path(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathStep]:
    return [
        PathStep(
            row["at"],
            "reaction" if row["given"] else "reaction taken back",
            {"id": row["outbound_id"], "emoji": row["emoji"]},
            f"Reacted {row['emoji']}",
            "" if row["given"] else "taken back since",
        )
        for row in await connection.fetch(_ROWS, tenant_id, turn_id)
    ]
