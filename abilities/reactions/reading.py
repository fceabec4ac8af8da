"""The reactions to our messages, as the console lists them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from operations.console.access import Scope

PAGE = 100
"""Messages on the page at most: the last to which somebody reacted."""
_ROWS = (
    "select f.tenant_id, f.outbound_id, o.turn_id, c.channel, f.emoji, f.liked, f.at, o.text,"
    " coalesce(nullif(t.name, ''), i.name, '') as person"
    " from feedback f join outbound o on o.tenant_id = f.tenant_id and o.id = f.outbound_id"
    " join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id"
    " join tenants t on t.tenant_id = f.tenant_id"
    " left join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id"
    " where f.tenant_id = $1 and f.given and ($2::text[] is null or f.outbound_id = any ($2))"
    " order by f.at desc, f.emoji limit 200"
)


@dataclass(frozen=True, slots=True)
class GivenReaction:
    """A reaction. `liked`: None if it says neither. `text`: the message that it is on."""

    tenant_id: str
    outbound_id: str
    turn_id: str | None
    person: str
    channel: str
    emoji: str
    liked: bool | None
    at: datetime
    text: str


async def list_feedback(scope: Scope) -> Sequence[GivenReaction]:
    """Return the last reactions, the newest first: an operator's of everybody, a person's own."""
    if not scope.viewer.operator:
        return await _read(scope, scope.viewer.tenant_id, None)
    found = await scope.everybody().rows("select * from list_feedback($1)", PAGE)
    by_person: dict[str, list[str]] = {}
    for row in found:
        by_person.setdefault(row["tenant_id"], []).append(row["outbound_id"])
    rows = [row for tenant, messages in by_person.items() for row in await _read(scope, tenant, messages)]
    return sorted(rows, key=lambda row: row.at, reverse=True)


async def _read(scope: Scope, tenant_id: str, messages: Iterable[str] | None) -> list[GivenReaction]:
    rows = await scope.tenant_rows(tenant_id, _ROWS, None if messages is None else list(messages))
    return [GivenReaction(**dict(row)) for row in rows]
