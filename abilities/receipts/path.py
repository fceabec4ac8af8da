"""The receipts of a turn in its path: their numbers, below which the page and the file have them."""

from collections.abc import Sequence

from abilities.receipts.store import receipts_of_turn
from core.db.database import Connection
from operations.paths.types import PathStep


async def read_path(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathStep]:
    return [
        PathStep(
            row["at"],
            "RECEIPT",
            {"number": row["number"], "name": row["tool"], "outcome": row["outcome"]},
            "Receipt",
            row["number"],
            {"of": row["tool"], "outcome": row["outcome"]},
        )
        for row in await receipts_of_turn(connection, tenant_id, turn_id)
    ]
