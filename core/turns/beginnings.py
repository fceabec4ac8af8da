"""The beginning of a turn, of a person's messages or of a task's run, and the news that reach it while it runs."""

import time
from collections.abc import Collection, Sequence
from dataclasses import replace

import asyncpg

from core.agents.pool import load_pool
from core.agents.pool_entry import PoolEntry
from core.approvals.store import load_approvals
from core.approvals.types import Approval
from core.db.database import Connection, Database
from core.errors import Halted, LeaseLost
from core.journal.postgres import PostgresJournal, news_of
from core.journal.types import Lease, TurnNews
from core.llm.types import ChatMessage
from core.loop.control import InterruptSignal, StopOnly, TurnMessage, put_together
from core.messaging.messages import Address, Command
from core.messaging.states import IdentityState
from core.people.access_policy import PersonRole, read_admission
from core.people.profile import fact_lines, facts_of
from core.people.tenant import TurnTenant, WhileRunning
from core.turns.stored import BegunTurn
from core.turns.types import AMONG, Among, FromPerson, FromTask, Kept, Place, Resumed, TurnRequest, TurnSender, TurnWork

NEWS_HOLD = 0.1
"""Seconds for which the news of a write stay valid: after a slow recall or judge, the person may have written more."""


class PostgresControl:
    """The person's stop and the messages they wrote while the turn ran. Implements `TurnControl`."""

    def __init__(self, database: Database, lease: Lease, turn_id: str, journal: PostgresJournal) -> None:
        self._database = database
        self._lease = lease
        self._turn_id = turn_id
        self._journal = journal
        self._looked: TurnNews | None = None
        self.signal = InterruptSignal()

    async def stopped(self) -> str | None:
        self._looked = await self._look()
        if self._looked.halted:
            raise Halted
        return self._looked.stop

    async def absorb(self) -> Sequence[TurnMessage]:
        # The loop asks for a stop first: the same look serves both.
        news, self._looked = self._looked or await self._look(), None
        return [TurnMessage.from_json(row) for row in news.waiting]

    async def _look(self) -> TurnNews:
        news, self._journal.news = self._journal.news, None
        if news is not None and time.monotonic() - news.heard_at < NEWS_HOLD:
            return news
        await self._journal.flush()
        news, self._journal.news = self._journal.news, None
        if news is not None:
            return news
        row = await self._database.one("select turn_news($1,$2) as news", self._lease.tenant_id, self._turn_id)
        return news_of(row["news"])


async def load_turn(
    database: Database,
    lease: Lease,
    turn: asyncpg.Record,
    channels: Collection[str],
    described: Sequence[str],
) -> BegunTurn:
    """Return the turn that `open_turn` returned. Raises `LeaseLost` if it is gone."""
    is_new = bool(turn["is_new"])
    journal = PostgresJournal(database, lease, turn["turn_id"], is_new=is_new)
    if turn["is_run"]:
        begun = await _load_run(database, lease, turn, channels, journal)
    else:
        begun = await _load_message_turn(database, lease, turn, journal)
    told = {name: [(key, says) for key, says in turn["described"].get(name) or ()] for name in described}
    brought = turn["brought"] or {}
    group = Among.from_json(brought[AMONG]) if brought.get(AMONG) else None
    kept = replace(begun.request.kept, described=told, brought=brought, among=group)
    request = replace(begun.request, kept=kept)
    return replace(
        begun,
        request=request,
        crashes=turn["crashes"],
        solo_crashes=turn["solo_crashes"],
        quarantined=turn["quarantined"],
        traceparent=turn["traceparent"],
    )


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
            pool = await load_pool(connection, lease.tenant_id, turn_id)
            approvals = await load_approvals(connection, lease.tenant_id, turn_id)
    sender = TurnSender(
        turn["account"], turn["user_key"], IdentityState(turn["sender_state"]), read_admission(turn["admitted"])
    )
    first = FromPerson(tuple(put_together(TurnMessage.from_json(row) for row in inbound)), sender)
    step = turn["waiting_step"]
    request = TurnRequest(
        TurnWork(
            turn_id,
            journal,
            attempt=attempts,
            control=PostgresControl(database, lease, turn_id, journal),
            while_running=WhileRunning(turn["while_running"]),
        ),
        _person(lease.tenant_id, turn),
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
    database: Database, lease: Lease, opened: asyncpg.Record, channels: Collection[str], journal: PostgresJournal
) -> BegunTurn:
    """Return the turn of a run, and note that it runs.

    It may speak on `channels` only. Raises `LeaseLost` if the run is gone.
    """
    tenant_id, turn_id, attempts = lease.tenant_id, opened["turn_id"], opened["attempts"]
    control = StopOnly(PostgresControl(database, lease, turn_id, journal))
    async with database.tenant(tenant_id) as connection:
        run = await begin_run(connection, tenant_id, turn_id, channels)
        pool = await load_pool(connection, tenant_id, turn_id)
        approvals = await load_approvals(connection, tenant_id, turn_id)
    history, step = tuple(ChatMessage.from_json(message) for message in run["history"]), run["waiting_step"]
    request = TurnRequest(
        TurnWork(turn_id, journal, attempt=attempts, control=control),
        _person(tenant_id, run),
        Place(run["channel"], run["conversation_id"]),
        FromTask() if step is None else Resumed(step, FromTask()),
        Kept(history, pool, approvals),
    )
    return BegunTurn(turn_id, attempts, Address(run["channel"] or "", "", ""), request, None, run_id=run["run_id"])


async def begin_run(
    connection: Connection, tenant_id: str, turn_id: str, channels: Collection[str] = ()
) -> asyncpg.Record:
    """Read the input of a run's turn, and note that it runs. Raises `LeaseLost` if the run is gone.

    `channels`: the channels that are on, by which the person may be reached; empty: any.
    """
    row = await connection.fetchrow(
        "select r.run_id, r.history, r.conversation_id, t.waiting_step,"
        " c.channel, p.name, nullif(p.language, '') as language,"
        " coalesce(nullif(p.timezone, ''), 'UTC') as timezone,"
        " p.timezone <> '' as timezone_known, p.role, nullif(p.tier, '') as tier from begin_run($1,$2,$3) r"
        " join turns t on t.tenant_id = $1 and t.id = $2 join tenants p on p.tenant_id = $1"
        " left join conversations c on c.tenant_id = $1 and c.id = r.conversation_id",
        tenant_id,
        turn_id,
        sorted(channels),
    )
    if row is None:
        raise LeaseLost
    return row


def _person(tenant_id: str, row: asyncpg.Record) -> TurnTenant:
    return TurnTenant(
        tenant_id,
        row["name"],
        row["language"],
        row["timezone"],
        PersonRole(row["role"]),
        row["tier"],
        row["timezone_known"],
    )
