"""Undelivered messages, messages that wait to be sent, and people's STOP."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from core.db.database import Connection
from core.messaging.states import IdentityState
from core.notifications.types import Urgency
from core.people.chat_names import masked
from operations.console.access import Scope
from operations.console.reading.conversations import Cursor
from operations.console.unsettled import UnsettledState

PAGE = 30
_TAKEN = "its provider took it, and reported that it did not arrive"
# The messages are named: otherwise Postgres may read all that was sent in their conversations.
_ROWS = (
    "with o as materialized (select * from outbound where tenant_id = $1 and id = any ($2))"
    " select o.id, o.kind, o.text, o.reason, o.attempts, o.created_at, o.turn_id, c.channel, c.peer,"
    " coalesce(nullif(t.name, ''), i.name, '') as person, c.recipient_id is not null as outreach, t.quiet_from,"
    " t.quiet_until, coalesce((select p.error_code from outbound_parts p where p.tenant_id = $1"
    "  and p.outbound_id = o.id and p.error_code <> '' order by p.part limit 1), '') as code,"
    " (select count(*) from outbound_parts p where p.tenant_id = $1 and p.outbound_id = o.id) as parts,"
    " (select count(*) from outbound_parts p where p.tenant_id = $1 and p.outbound_id = o.id and p.state = 'sent'"
    "  and p.status not in ('undelivered', 'failed')) as arrived"
    " from o join tenants t on t.tenant_id = o.tenant_id"
    " join conversations c on c.tenant_id = o.tenant_id and c.id = o.conversation_id"
    " left join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id"
)


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A message that failed, waits, or has an unknown outcome.

    `arrived` of its `parts` were accepted, and not reported as lost later. `quiet`: the person's quiet hours, such as
    `22:00-07:00`.
    """

    tenant_id: str
    id: str
    person: str
    channel: str
    place: str
    kind: str
    text: str
    state: UnsettledState
    reason: str
    code: str
    attempts: int
    parts: int
    arrived: int
    at: datetime
    turn_id: str
    quiet: str

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.at, self.id)


@dataclass(frozen=True, slots=True)
class HeldNotification:
    """News that waits for the next digest. `until` is None while its time is still to be decided."""

    tenant_id: str
    id: str
    person: str
    category: str
    urgency: Urgency
    text: str
    at: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Consent:
    """A line of the ledger: whether a person could be written to from then on, and how we learned it."""

    id: int
    channel: str
    ending: str
    state: IdentityState
    how: str
    at: datetime
    tenant_id: str


async def list_unsettled(
    scope: Scope, *, state: UnsettledState | None = None, after: Cursor | None = None
) -> list[Unsettled]:
    """Return a page of messages, the newest first."""
    at, last = (after.at, after.id) if after else (None, "")
    found = await scope.listed("select * from find_unsettled($1,$2,$3,$4,$5)", state or "", at, last, PAGE)
    states = {row["outbound_id"]: UnsettledState(row["state"]) for row in found}
    shown: dict[str, Unsettled] = {}
    for tenant_id in dict.fromkeys(row["tenant_id"] for row in found):
        ids = [row["outbound_id"] for row in found if row["tenant_id"] == tenant_id]
        for row in await scope.tenant_rows(tenant_id, _ROWS, ids):
            shown[row["id"]] = _unsettled(tenant_id, states[row["id"]], row)
    return [shown[row["outbound_id"]] for row in found if row["outbound_id"] in shown]


async def list_held(scope: Scope) -> list[HeldNotification]:
    """Return the waiting news, the next first: the viewer's own, or all people's for an operator."""
    people = [scope.viewer.tenant_id]
    if scope.viewer.operator:
        people = [row["tenant_id"] for row in await scope.everybody().rows("select * from find_held_people($1)", PAGE)]
    held: list[HeldNotification] = []
    for tenant_id in people:
        async with scope.tenant(tenant_id) as connection:
            held += await _held_of(connection, tenant_id)
    return sorted(held, key=lambda one: (one.until is not None, one.until or one.at))


async def list_consents(scope: Scope, before: int = 0) -> Sequence[Consent]:
    """Return a page of the ledger, the newest first."""
    rows = await scope.listed("select * from list_consents($1,$2,$3)", before or None, PAGE)
    return [
        Consent(
            row["id"],
            row["channel"],
            row["ending"],
            IdentityState(row["state"]),
            row["how"],
            row["at"],
            row["tenant_id"] or "",
        )
        for row in rows
    ]


async def _held_of(connection: Connection, tenant_id: str) -> list[HeldNotification]:
    rows = await connection.fetch(
        "select n.id, n.category, n.urgency, n.text, n.at, nullif(n.not_before, '-infinity') as until, t.name"
        " from notifications n join tenants t on t.tenant_id = n.tenant_id"
        " where n.tenant_id = $1 and n.state = 'held' order by n.at, n.id limit $2",
        tenant_id,
        PAGE,
    )
    return [
        HeldNotification(
            tenant_id,
            row["id"],
            row["name"],
            row["category"],
            Urgency(row["urgency"]),
            row["text"],
            row["at"],
            row["until"],
        )
        for row in rows
    ]


def _unsettled(tenant_id: str, state: UnsettledState, row: asyncpg.Record) -> Unsettled:
    return Unsettled(
        tenant_id,
        row["id"],
        row["person"],
        row["channel"],
        # The address of a third party, to whom the person wrote, is masked for the operator too.
        masked(row["peer"]),
        "to somebody else" if row["outreach"] else row["kind"],
        row["text"],
        state,
        _TAKEN if state is UnsettledState.UNDELIVERED else row["reason"],
        row["code"],
        row["attempts"],
        row["parts"],
        row["arrived"],
        row["created_at"],
        row["turn_id"] or "",
        f"{row['quiet_from']}-{row['quiet_until']}" if row["quiet_from"] else "",
    )
