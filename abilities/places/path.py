"""The places that a turn's messages brought, in its path: when and how exactly, never where."""

from collections.abc import Sequence

import asyncpg

from core.db.database import Connection
from operations.paths.types import Line, PathNote, PathReader


async def _rows(connection: Connection, tenant: str, turn: str) -> Sequence[asyncpg.Record]:
    return await connection.fetch(
        "select s.how, s.accuracy, s.at, s.live_until, s.latitude is null as forgotten, i.received_at, i.id"
        " from seen_places s join inbound i on i.tenant_id = s.tenant_id and i.id = s.inbound_id"
        " where s.tenant_id = $1 and i.turn_id = $2 order by i.seq",
        tenant,
        turn,
    )


async def _lines(connection: Connection, tenant: str, turn: str) -> Sequence[Line]:
    return [
        {
            "at": row["received_at"],
            "what": "place",
            "id": row["id"],
            "how": row["how"],
            "accuracy_m": row["accuracy"],
            "last_at": row["at"],
            "state": "forgotten" if row["forgotten"] else "kept",
        }
        for row in await _rows(connection, tenant, turn)
    ]


async def _notes(connection: Connection, tenant: str, turn: str) -> Sequence[PathNote]:
    return [
        PathNote(row["received_at"], row["received_at"], "place", _note(row))
        for row in await _rows(connection, tenant, turn)
    ]


def _note(row: asyncpg.Record) -> str:
    exact = "" if row["accuracy"] is None else f", known to {round(row['accuracy'])} m"
    return f"{row['how']}{exact}{', forgotten since' if row['forgotten'] else ''}"


PATH = PathReader(_lines, _notes)
