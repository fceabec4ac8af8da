"""The follow-ups of a turn in its path: those about its statements, and those that it decided."""

from collections.abc import Sequence

from abilities.followups.types import State
from core.db.database import Connection
from operations.paths.types import Line, PathNote, PathReader

_ROWS = (
    "select memory_id, number, state, ask_at, made_at, changed_at, turn_id is not distinct from $2 as told"
    " from followups where tenant_id = $1 and (turn_id = $2 or decided_in = $2) order by made_at, memory_id"
)


async def _lines(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[Line]:
    rows = await connection.fetch(_ROWS, tenant_id, turn_id)
    return [
        {
            "at": row["made_at"] if row["told"] else row["changed_at"],
            "what": "FOLLOW-UP",
            "id": row["memory_id"],
            "state": row["state"],
        }
        for row in rows
    ]


async def _notes(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathNote]:
    rows = await connection.fetch(_ROWS, tenant_id, turn_id)
    notes: list[PathNote] = []
    for row in rows:
        at = row["made_at"] if row["told"] else row["changed_at"]
        title = f"Follow-up {row['number']}" if row["number"] else "Follow-up"
        state = State(row["state"])
        note = "not proposed" if state is State.PASSED else state.value
        facts = {"asks": f"{row['ask_at']:%Y-%m-%d %H:%M} UTC"} if row["ask_at"] else {}
        notes.append(PathNote(at, at, title, note, facts))
    return notes


PATH = PathReader(_lines, _notes)
