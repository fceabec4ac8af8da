"""A turn as its worker takes it up: everything that its lane, its person and its pool hold for it."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import asyncpg

from core.agents.pool_entry import PoolEntry
from core.approvals.store import load_approvals
from core.approvals.types import Approval
from core.db.database import Connection, Database
from core.errors import LeaseLost
from core.journal.postgres import Lease, PostgresJournal
from core.llm.types import ChatMessage
from core.loop.control import put_together
from core.messaging.messages import Address, Command
from core.messaging.states import IdentityState
from core.people.access_policy import PersonRole, read_admission
from core.people.profile import fact_lines, facts_of
from core.people.tenant import TurnTenant, WhileRunning
from core.turns.control import PostgresControl, turn_message
from core.turns.runs import RunControl, load_run_turn
from core.turns.types import BegunTurn, FromPerson, FromTask, Kept, Place, Resumed, TurnRequest, TurnSender, TurnWork

POOL_ROWS = 200


HISTORY_ROWS = 200
"""How much of a session is loaded for a turn; the context manager trims to what the model takes."""


async def load_turn(
    database: Database,
    lease: Lease,
    turn: asyncpg.Record,
    channels: Collection[str],
    *,
    described: Sequence[str] = (),
    keep_prompts: bool = False,
) -> BegunTurn:
    """Return the turn that `open_turn` returned; a run may speak on `channels` only.

    `described`: the collections whose values it describes.

    Raises `LeaseLost` where it is gone.
    """
    journal = PostgresJournal(database, lease, turn["turn_id"], is_new=bool(turn["is_new"]), keep_prompts=keep_prompts)
    begun = await _load(database, lease, turn, channels, journal)
    described_values = {name: _pairs(turn["described"].get(name)) for name in described}
    return replace(
        begun,
        request=replace(begun.request, kept=replace(begun.request.kept, described=described_values)),
        crashes=turn["crashes"],
        solo_crashes=turn["solo_crashes"],
        quarantined=turn["quarantined"],
        traceparent=turn["traceparent"],
    )


def _pairs(values: Sequence[Sequence[str]] | None) -> Sequence[tuple[str, str]]:
    return [(key, says) for key, says in values or ()]


async def _load(
    database: Database, lease: Lease, turn: asyncpg.Record, channels: Collection[str], journal: PostgresJournal
) -> BegunTurn:
    if not turn["is_run"]:
        return await _load_message_turn(database, lease, turn, journal)
    async with database.tenant(lease.tenant_id) as connection:
        control = RunControl(PostgresControl(database, lease, turn["turn_id"], journal))
        return await _load_run(connection, lease, turn, channels, journal, control)


async def _load_message_turn(
    database: Database, lease: Lease, turn: asyncpg.Record, journal: PostgresJournal
) -> BegunTurn:
    if turn["conversation_id"] is None:
        raise LeaseLost
    turn_id, attempts, inbound = turn["turn_id"], turn["attempts"], turn["taken"]
    pool: tuple[PoolEntry, ...] = ()
    approvals: tuple[Approval, ...] = ()
    if turn["has_pool"] or turn["has_approvals"]:
        async with database.tenant(lease.tenant_id) as connection:
            pool = await _pool(connection, lease.tenant_id, turn_id)
            approvals = await load_approvals(connection, lease.tenant_id, turn_id)
    person = TurnTenant(
        lease.tenant_id,
        turn["name"],
        turn["language"],
        turn["timezone"],
        PersonRole(turn["role"]),
        turn["tier"],
        turn["timezone_known"],
    )
    sender = TurnSender(
        turn["account"], turn["user_key"], IdentityState(turn["sender_state"]), read_admission(turn["admitted"])
    )
    first = FromPerson(tuple(put_together(turn_message(row) for row in inbound)), sender)
    step = turn["waiting_step"]
    request = TurnRequest(
        TurnWork(
            turn_id,
            journal,
            attempt=attempts,
            control=PostgresControl(database, lease, turn_id, journal),
            while_running=WhileRunning(turn["while_running"]),
        ),
        person,
        Place(turn["channel"], turn["conversation_id"]),
        first if step is None else Resumed(step, first, turn["was_passed_on"]),
        Kept(
            tuple(ChatMessage.from_json(message) for message in turn["history"]),
            pool=pool,
            approvals=approvals,
            facts=fact_lines(facts_of(turn["facts"])),
        ),
    )
    command = next((Command(**row["command"]) for row in inbound if row["command"]), None)
    address = Address(turn["channel"], turn["account"], turn["peer"], turn["thread"])
    newest = (inbound[-1]["provider_id"] or None) if inbound else None
    linked = tuple(row["traceparent"] for row in inbound[1:] if row["traceparent"])
    return BegunTurn(turn_id, attempts, address, request, command, newest, linked=linked)


async def _load_run(
    connection: Connection,
    lease: Lease,
    opened: asyncpg.Record,
    channels: Collection[str],
    journal: PostgresJournal,
    control: RunControl,
) -> BegunTurn:
    turn_id, attempts = opened["turn_id"], opened["attempts"]
    turn = await load_run_turn(connection, lease.tenant_id, turn_id, channels)
    kept = Kept(
        turn.history,
        pool=await _pool(connection, lease.tenant_id, turn_id),
        approvals=await load_approvals(connection, lease.tenant_id, turn_id),
    )
    request = TurnRequest(
        TurnWork(turn_id, journal, attempt=attempts, control=control),
        turn.tenant,
        Place(turn.channel, turn.conversation_id),
        FromTask() if turn.waiting_step is None else Resumed(turn.waiting_step, FromTask()),
        kept,
    )
    return BegunTurn(turn_id, attempts, Address(turn.channel or "", "", ""), request, None, run_id=turn.run_id)


async def _pool(connection: Connection, tenant_id: str, turn_id: str) -> tuple[PoolEntry, ...]:
    """Return the agents that wait for this person, and all of this turn's own."""
    rows = await connection.fetch(
        "select * from pool_entries where tenant_id = $1 and (turn_id = $2"
        " or status not in ('CANCELLED', 'COMPLETED'))"
        " order by created_at, agent_id limit $3",
        tenant_id,
        turn_id,
        POOL_ROWS,
    )
    return tuple(PoolEntry.from_row(dict(row)) for row in rows)
