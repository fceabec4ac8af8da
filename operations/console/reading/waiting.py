"""Waiting entries: cards to decide, agents with a question, and turns, the longest wait first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import asyncpg

from core.agents.standard_agent import AgentStatus
from core.db.database import Connection
from operations.console.access import Scope
from operations.console.reading.conversations import Cursor

PAGE = 50
_PERSON = "select coalesce(nullif(t.name, ''), i.name, '') as person, coalesce(c.channel, '') as channel,"
_JOINED = (
    " join tenants t on t.tenant_id = w.tenant_id"
    " left join conversations c on c.tenant_id = w.tenant_id and c.id = w.conversation_id"
    " left join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id"
    " where w.tenant_id = $1"
)
_APPROVALS = (
    f"{_PERSON} w.id, w.created_at as since, w.expires_at as until, w.name, w.summary as text, w.code,"
    f" w.risk = 'high' as high, '' as status, w.turn_id from approvals w{_JOINED} and w.id = any ($2)"
)
_AGENTS = (
    f"{_PERSON} w.agent_id as id, w.created_at as since, w.expires_at as until, w.agent_type as name,"
    " coalesce(w.context ->> 'question', '') as text, '' as code, false as high, w.status, w.turn_id"
    f" from pool_entries w{_JOINED} and w.agent_id = any ($2)"
)
_TURNS = (
    f"{_PERSON} w.id, w.started_at as since, null::timestamptz as until, '' as name, w.reason as text, '' as code,"
    f" false as high, w.state as status, w.id as turn_id from turns w{_JOINED} and w.id = any ($2)"
)
_OWN = (
    "select 'approval' as kind, id, created_at as since from approvals where tenant_id = $1 and state = 'pending'"
    " union all select 'agent', agent_id, created_at from pool_entries where tenant_id = $1"
    "  and status not in ('CANCELLED', 'COMPLETED', 'WAITING_FOR_APPROVAL')"
    " order by since, id limit $2"
)


class WaitingKind(StrEnum):
    """Kinds of waiting entries."""

    APPROVAL = "approval"
    AGENT = "agent"
    TURN = "turn"
    """It waits, but neither for a decision nor for an answer: something went wrong, or goes on within seconds."""


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """A waiting entry. `text` is the person's; `name` is the tool's or the agent's; `status` is an agent's."""

    kind: WaitingKind
    tenant_id: str
    id: str
    person: str
    channel: str
    name: str
    text: str
    code: str
    high_risk: bool
    status: AgentStatus | None
    turn_id: str
    since: datetime
    until: datetime | None

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.since, self.id)

    @property
    def waits_for(self) -> str:
        """Return in words the event for which it waits."""
        match self.kind, self.status:
            case WaitingKind.APPROVAL, _:
                return "a decision"
            case WaitingKind.AGENT, AgentStatus.WAITING_FOR_ACCOUNT:
                return "an account to be connected"
            case WaitingKind.AGENT, AgentStatus.PAUSED:
                return "nothing: it is paused"
            case WaitingKind.AGENT, _:
                return "an answer"
        return "a worker"


async def list_waiting(scope: Scope, after: Cursor | None = None) -> list[WaitingRow]:
    """Return a page of waiting entries of all people for an operator; for a person, all their own."""
    viewer = scope.viewer
    if not viewer.operator:
        async with scope.tenant(viewer.tenant_id) as connection:
            found = await connection.fetch(_OWN, viewer.tenant_id, PAGE)
            shown = await _read(connection, viewer.tenant_id, found)
        return [shown[row["id"]] for row in found if row["id"] in shown]
    at, last = (after.at, after.id) if after else (None, "")
    found = await scope.everybody().rows("select * from console_waiting($1,$2,$3)", at, last, PAGE)
    shown = {}
    for tenant_id in dict.fromkeys(row["tenant_id"] for row in found):
        async with scope.tenant(tenant_id) as connection:
            shown |= await _read(connection, tenant_id, [row for row in found if row["tenant_id"] == tenant_id])
    return [shown[row["id"]] for row in found if row["id"] in shown]


async def _read(connection: Connection, tenant_id: str, found: Sequence[asyncpg.Record]) -> dict[str, WaitingRow]:
    statements = {WaitingKind.APPROVAL: _APPROVALS, WaitingKind.AGENT: _AGENTS, WaitingKind.TURN: _TURNS}
    shown: dict[str, WaitingRow] = {}
    for kind, statement in statements.items():
        if ids := [row["id"] for row in found if row["kind"] == kind]:
            rows = await connection.fetch(statement, tenant_id, ids)
            shown |= {row["id"]: _row(kind, tenant_id, row) for row in rows}
    return shown


def _row(kind: WaitingKind, tenant_id: str, row: asyncpg.Record) -> WaitingRow:
    return WaitingRow(
        kind=kind,
        tenant_id=tenant_id,
        id=row["id"],
        person=row["person"],
        channel=row["channel"],
        name=row["name"],
        text=row["text"],
        code=row["code"],
        high_risk=row["high"],
        status=AgentStatus(row["status"]) if kind is WaitingKind.AGENT else None,
        turn_id=row["turn_id"],
        since=row["since"],
        until=row["until"],
    )
