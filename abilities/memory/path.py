"""The recall of a turn in its path: the hits of each leg of the search."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import cast

from core.db.database import Connection
from core.json_types import JsonObject
from operations.paths.types import PathStep


async def read_path(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathStep]:
    row = await connection.fetchrow(
        "select report, created_at from memory_recalls where tenant_id = $1 and turn_id = $2", tenant_id, turn_id
    )
    if row is None:
        return ()
    at, legs = row["created_at"], row["report"]["legs"]
    took = timedelta(milliseconds=max((float(leg["took_ms"]) for leg in legs), default=0.0))
    found = len({hit for leg in legs for hit in leg["hits"]})
    facts = {leg["leg"]: f"{len(leg['hits'])} found, {float(leg['took_ms']):.1f} ms" for leg in legs}
    note = "nothing" if not found else "1 memory" if found == 1 else f"{found} memories"
    whole = PathStep(at, title="Recalled", note=note, facts=facts, began=at - took)
    return (whole, *(PathStep(at, "RECALL", _hits(leg)) for leg in legs))


def _hits(leg: JsonObject) -> Mapping[str, object]:
    hits = cast("list[str]", leg["hits"])
    return {"leg": leg["leg"], "hits": ",".join(hits[:5]), "missed": leg["missed"], "ms": leg["took_ms"]}
