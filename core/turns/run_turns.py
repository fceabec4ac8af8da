"""The turn of a task's run as it begins: its input, and its stop signal."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import asyncpg

from core.agents.pool import load_pool
from core.approvals.store import load_approvals
from core.db.database import Connection, Database
from core.errors import LeaseLost
from core.journal.postgres import Lease, PostgresJournal
from core.llm.types import ChatMessage
from core.loop.control import InterruptSignal, TurnControl, TurnMessage
from core.messaging.messages import Address
from core.people.tenant import TurnTenant
from core.turns.control import PostgresControl
from core.turns.types import BegunTurn, FromTask, Kept, Place, Resumed, TurnRequest, TurnWork


@dataclass(frozen=True, slots=True)
class RunControl:
    """Stop a run's turn on request. The person's messages belong to their conversation's turns, not to the run's."""

    whole: TurnControl = field(repr=False)

    @property
    def signal(self) -> InterruptSignal:
        return self.whole.signal

    async def stopped(self) -> str | None:
        """Return the message of a requested stop."""
        return await self.whole.stopped()

    async def absorb(self) -> Sequence[TurnMessage]:
        return ()


async def load_run(
    database: Database, lease: Lease, opened: asyncpg.Record, channels: Collection[str], journal: PostgresJournal
) -> BegunTurn:
    """Return the turn of a run, and note that it runs.

    It may speak on `channels` only. Raises `LeaseLost` if the run is gone.
    """
    tenant_id, turn_id, attempts = lease.tenant_id, opened["turn_id"], opened["attempts"]
    control = RunControl(PostgresControl(database, lease, turn_id, journal))
    async with database.tenant(tenant_id) as connection:
        run = await begin_run(connection, tenant_id, turn_id, channels)
        pool = await load_pool(connection, tenant_id, turn_id)
        approvals = await load_approvals(connection, tenant_id, turn_id)
    history, step = tuple(ChatMessage.from_json(message) for message in run["history"]), run["waiting_step"]
    request = TurnRequest(
        TurnWork(turn_id, journal, attempt=attempts, control=control),
        TurnTenant.from_row(tenant_id, run),
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
