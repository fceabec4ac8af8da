"""The follow-ups of a turn in its path: those about its statements, and those that it decided."""

from collections.abc import Sequence

from abilities.followups.types import State
from core.db.database import Connection
from operations.paths.types import PathStep

_ROWS = (
    "select memory_id, number, state, ask_at, made_at, changed_at, turn_id is not distinct from $2 as told"
    " from followups where tenant_id = $1 and (turn_id = $2 or decided_in = $2) order by made_at, memory_id"
)


async def read_path(connection: Connection, tenant_id: str, turn_id: str) -> Sequence[PathStep]:
    steps = list[PathStep]()
    for row in await connection.fetch(_ROWS, tenant_id, turn_id):
        state = State(row["state"])
        steps.append(
            PathStep(
                row["made_at"] if row["told"] else row["changed_at"],
                "FOLLOW-UP",
                {"id": row["memory_id"], "state": state},
                f"Follow-up {row['number']}" if row["number"] else "Follow-up",
                "not proposed" if state is State.PASSED else state.value,
                {"asks": f"{row['ask_at']:%Y-%m-%d %H:%M} UTC"} if row["ask_at"] else {},
            )
        )
    return steps
