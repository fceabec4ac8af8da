"""People's follow-ups, as the console lists them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from abilities.followups.types import State
from operations.console.access import Scope

PAGE = 100
"""Follow-ups on the page at most: the last that were proposed."""
_ROWS = (
    "select f.tenant_id, f.memory_id, f.number, f.state, f.turn_id, f.decided_in, f.digest_at, f.ask_at, f.made_at,"
    " coalesce(m.text, '') as text, coalesce(t.name, '') as person"
    " from followups f join tenants t on t.tenant_id = f.tenant_id"
    " left join memories m on m.tenant_id = f.tenant_id and m.id = f.memory_id"
    " where f.tenant_id = $1 and f.state <> 'passed' and ($2::text[] is null or f.memory_id = any ($2))"
    " order by f.made_at desc, f.memory_id limit 100"
)


@dataclass(frozen=True, slots=True)
class ShownFollowUp:
    """A follow-up on the page. `text`: the person's words; empty if they were forgotten."""

    tenant_id: str
    memory_id: str
    number: int
    state: State
    turn_id: str | None
    decided_in: str | None
    digest_at: datetime
    ask_at: datetime
    made_at: datetime
    text: str
    person: str


async def list_followups(scope: Scope) -> Sequence[ShownFollowUp]:
    """Return the last follow-ups, the newest first: an operator's of everybody, a person's own."""
    if not scope.viewer.operator:
        return await _read(scope, scope.viewer.tenant_id, None)
    found = await scope.everybody().rows("select * from list_followups($1)", PAGE)
    by_person: dict[str, list[str]] = {}
    for row in found:
        by_person.setdefault(row["tenant_id"], []).append(row["memory_id"])
    rows = [row for tenant, memories in by_person.items() for row in await _read(scope, tenant, memories)]
    return sorted(rows, key=lambda row: row.made_at, reverse=True)


async def _read(scope: Scope, tenant_id: str, memories: Iterable[str] | None) -> list[ShownFollowUp]:
    rows = await scope.tenant_rows(tenant_id, _ROWS, None if memories is None else list(memories))
    return [ShownFollowUp(**{**row, "state": State(row["state"])}) for row in rows]
