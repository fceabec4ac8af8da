"""The one reader of a turn's path: its rows, of which `trace`, `replay` and the pages each tell their part."""

from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from core.db.database import Connection, Database

_TURN = """
select t.*, coalesce(c.channel, '') as channel, coalesce(nullif(p.name, ''), i.name, '') as person,
    p.name, nullif(p.language, '') as language, coalesce(nullif(p.timezone, ''), 'UTC') as timezone
from turns t
join tenants p on p.tenant_id = t.tenant_id
left join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id
left join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
where t.tenant_id = $1 and t.id = $2
"""
_RECEIVED = """
select i.*, c.channel,
    case when i.points @> '[{"whose": "changed"}]' or i.reason like 'edited%' then first_sent(i) end as amends,
    array(select k.key from inbox_keys k where k.tenant_id = i.tenant_id and k.inbound_id = i.id order by k.key) as keys
from inbound i join conversations c on c.tenant_id = i.tenant_id and c.id = i.conversation_id
"""
_INBOUND = f"{_RECEIVED} where i.tenant_id = $1 and (i.id = $2 or i.turn_id = $2) order by i.seq"
_CHANGES = (
    f"{_RECEIVED} where i.tenant_id = $1 and i.id in (select x.id from inbound m cross join lateral changes_of(m) x"  # noqa: S608
    " where m.tenant_id = $1 and m.id = any ($2) and m.outcome is null) and not i.id = any ($2) order by i.seq"
)
_STEPS = """
select * from steps where tenant_id = $1 and turn_id = $2 order by started_at, agent_path, step, call_index
"""
_DECISIONS = """
select u.at, u.what, u.how, u.channel, u.approval_id, a.code from approval_audit u
join approvals a on a.tenant_id = u.tenant_id and a.id = u.approval_id
where a.tenant_id = $1 and a.turn_id = $2 and u.what in ('approved', 'cancelled', 'replaced', 'expired')
order by u.id
"""
_OUTBOUND = "select * from outbound where tenant_id = $1 and (id = $2 or turn_id = $2) order by seq"
_DELIVERIES = """
select d.*, e.text as part_text, e.state as part_state, c.channel, exists (
    select 1 from deliveries n where n.tenant_id = d.tenant_id and n.outbound_id = d.outbound_id
    and n.part = d.part and n.attempt > d.attempt) as again
from deliveries d
join outbound_parts e on e.tenant_id = d.tenant_id and e.outbound_id = d.outbound_id and e.part = d.part
join outbound o on o.tenant_id = d.tenant_id and o.id = d.outbound_id
join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id
where d.tenant_id = $1 and d.outbound_id = any ($2) order by d.started_at
"""
_STATUSES = """
select * from outbound_parts where tenant_id = $1 and outbound_id = any ($2) and status_at is not null
order by status_at
"""


@dataclass(frozen=True, slots=True)
class PathRows:
    """The rows of a turn, or of a message that belongs to none.

    `turns` has the turn alone; `statuses` are parts with a provider's last word; `changes` are later changes of its
    messages, which other turns took in, or none; `decisions`: those that ended the turn's approvals.
    """

    turns: Sequence[asyncpg.Record]
    inbound: Sequence[asyncpg.Record]
    steps: Sequence[asyncpg.Record]
    outbound: Sequence[asyncpg.Record]
    deliveries: Sequence[asyncpg.Record]
    statuses: Sequence[asyncpg.Record]
    changes: Sequence[asyncpg.Record] = ()
    decisions: Sequence[asyncpg.Record] = ()


async def find_turn(database: Database, wanted: str) -> tuple[str, str] | None:
    """Return the person and the turn that an id belongs to."""
    found = await database.call("select * from find_trace($1)", wanted)
    return (found["tenant_id"], found["turn_id"]) if found and found["turn_id"] else None


async def read_rows(connection: Connection, tenant_id: str, wanted: str) -> PathRows:
    """Return the rows of a turn, or of a single message, by its id."""
    outbound = await connection.fetch(_OUTBOUND, tenant_id, wanted)
    sent = [row["id"] for row in outbound]
    inbound = await connection.fetch(_INBOUND, tenant_id, wanted)
    received = [row["id"] for row in inbound]
    return PathRows(
        await connection.fetch(_TURN, tenant_id, wanted),
        inbound,
        await connection.fetch(_STEPS, tenant_id, wanted),
        outbound,
        await connection.fetch(_DELIVERIES, tenant_id, sent) if sent else (),
        await connection.fetch(_STATUSES, tenant_id, sent) if sent else (),
        await connection.fetch(_CHANGES, tenant_id, received) if received else (),
        await connection.fetch(_DECISIONS, tenant_id, wanted),
    )


def how_decided(decision: asyncpg.Record) -> str:
    """Return the means of a decision, such as a button, without the id of the form or message that decided."""
    return " ".join(word for word in decision["how"].split() if "_" not in word)
