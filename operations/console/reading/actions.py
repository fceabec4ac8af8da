"""Actions in the console on a person's data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core.db.database import Connection

SHOWN = 20


@dataclass(frozen=True, slots=True)
class DoneAction:
    """An action. `by_person`: they did it themselves; otherwise an operator did."""

    what: str
    at: datetime
    by_person: bool


async def newest_actions(connection: Connection, tenant_id: str) -> Sequence[DoneAction]:
    """Return the newest actions, the newest first."""
    rows = await connection.fetch(
        "select what, at, viewer = tenant_id as by_person from console_actions where tenant_id = $1"
        " order by at desc, id desc limit $2",
        tenant_id,
        SHOWN,
    )
    return [DoneAction(row["what"], row["at"], row["by_person"]) for row in rows]
