"""The recall of a turn in its path: the hits of each leg of the search."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import cast

import asyncpg

from core.db.database import Connection
from core.json_types import JsonObject
from operations.paths.types import Line, PathNote, PathReader


async def _report(connection: Connection, tenant_id: str, turn_id: str) -> asyncpg.Record | None:
    return await connection.fetchrow(
        "select report, created_at from memory_recalls where tenant_id = $1 and turn_id = $2", tenant_id, turn_id
    )


async def _lines(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[Line]:
    row = await _report(connection, tenant_id, turn_id)
    return [_recall_line(row["created_at"], leg) for leg in row["report"]["legs"]] if row else []


def _recall_line(at: datetime, leg: JsonObject) -> Line:
    hits = cast("list[str]", leg["hits"])
    return {
        "at": at,
        "what": "RECALL",
        "leg": leg["leg"],
        "hits": ",".join(hits[:5]),
        "missed": leg["missed"],
        "ms": leg["took_ms"],
    }


async def _notes(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathNote]:
    row = await _report(connection, tenant_id, turn_id)
    if row is None:
        return []
    legs = row["report"]["legs"]
    took = timedelta(milliseconds=max((float(leg["took_ms"]) for leg in legs), default=0.0))
    found = len({hit for leg in legs for hit in leg["hits"]})
    facts = {leg["leg"]: f"{len(leg['hits'])} found, {float(leg['took_ms']):.1f} ms" for leg in legs}
    note = "nothing" if not found else "1 memory" if found == 1 else f"{found} memories"
    return [PathNote(row["created_at"] - took, row["created_at"], "Recalled", note, facts)]


PATH = PathReader(_lines, _notes)
