"""The open requests to a person: actions for their consent, and questions for their answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core.db.database import Database

_WAITING = (
    "select text, code from ("
    " select summary as text, code, created_at from approvals"
    " where tenant_id = $1 and state = 'pending' and (expires_at is null or expires_at > $2)"
    " union all select context ->> 'question', '', created_at from pool_entries"
    " where tenant_id = $1 and status = 'WAITING_FOR_INPUT' and context ->> 'question' <> '' and expires_at > $2"
    ") w order by created_at"
)


@dataclass(frozen=True, slots=True)
class WaitingNote:
    """An open request to a person: an action for their consent, with the code of its card, or a question."""

    text: str
    code: str = ""


async def read_waiting(database: Database, tenant_id: str, now: datetime) -> Sequence[WaitingNote]:
    """Return the open requests to a person, the longest wait first, without expired requests."""
    async with database.tenant(tenant_id) as connection:
        rows = await connection.fetch(_WAITING, tenant_id, now)
    return [WaitingNote(row["text"], row["code"]) for row in rows]
