"""Turns in Postgres: leases on lanes, the journal, and the one transaction that ends a turn."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import cast

import asyncpg

from core.agents.pool_entry import PoolEntry
from core.approvals.cards import Card
from core.approvals.store import load_approvals
from core.db.database import Connection, Database
from core.errors import LeaseLost, StoreUnavailable
from core.ids import IdMaker
from core.journal.types import Effect, Outcome, StepKey, StepKind, StepRecord, StepState
from core.json_types import JsonObject, storable
from core.llm.types import ChatMessage, TokenUsage
from core.loop.control import TurnMessage
from core.messaging.messages import Address, Command, Origin, OutboundMessage
from core.messaging.streamed_message import StreamRow
from core.people.tenant import TurnTenant, WhileRunning
from core.queue.limits import MAX_LANES_PER_TENANT
from core.queue.quarantine import Suspects
from core.turns.failures import fail_turn
from core.turns.runs import RunControl, RunNote, is_run, load_run_turn
from core.turns.types import TurnRequest, TurnSender

REST_KEPT = timedelta(days=1)
"""How long a person may ask for the rest of a long answer."""
POOL_ROWS = 200
HISTORY_ROWS = 200
"""How much of a session is loaded for a turn; the context manager trims to what the model takes."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run turns on a lane until it is lost: every write carries the fence."""

    tenant_id: str
    lane_id: str
    fence: int
    owner: str


@dataclass(frozen=True, slots=True)
class BegunTurn:
    """A turn that is ours to run. `attempts` above 1: earlier workers died while they had it."""

    turn_id: str
    attempts: int
    address: Address
    request: TurnRequest
    command: Command | None
    run_id: str = ""
    """The run of a task whose turn it is."""
    blamed: int = 0
    """How many processes died of it at the place where it is, as nothing else can have been the cause."""
    suspect: bool = False
    """Whether workers died with it twice at that place: it runs apart from others."""


class TurnStore:
    """Claim lanes, begin and finish turns. Statements may be repeated: an error does not mean they failed.

    `channels`: those that are on, on which runs may speak; empty: any.
    """

    def __init__(
        self,
        database: Database,
        make_id: IdMaker,
        lease: timedelta,
        channels: Collection[str] = (),
        suspects: Suspects = Suspects.HERE,
    ) -> None:
        self._database = database
        self._make_id = make_id
        self.lease = lease
        self._channels = frozenset(channels)
        self._suspects = suspects
        # Owners whose claim was not answered: it may have been made, and asking again as them gives it to us.
        self._unanswered: list[str] = []

    async def claim(self, lane_id: str | None, worker: str) -> Lease | None:
        """Take the named lane, or the one that waits longest; None when there is nothing to take."""
        owner = self._unanswered.pop() if self._unanswered else f"{worker}/{self._make_id('own')}"
        try:
            row = await self._database.call(
                *("select * from claim_lane($1,$2,$3,$4,$5)", lane_id, owner, self.lease, MAX_LANES_PER_TENANT),
                self._suspects.value,
            )
        except StoreUnavailable:
            self._unanswered.append(owner)
            raise
        return Lease(row["tenant_id"], row["lane_id"], row["fence"], owner) if row else None

    async def end_leases(self, worker: str, hung_on: str | None = None) -> None:
        """Free at once what this worker held, which is known to be dead, and blame what may have killed it.

        `hung_on`: None unless its event loop hung, else the lane or the outbound message that blocked it, which alone
        is then blamed, or "" where that is not known.
        """
        await self._database.call("select end_leases($1,$2)", worker, hung_on)

    async def renew(self, lease: Lease) -> bool:
        """Prolong the lease; False when another worker has it by now."""
        row = await self._database.call(
            "select renew_lane($1,$2,$3,$4) as held", lease.tenant_id, lease.lane_id, lease.fence, self.lease
        )
        return bool(row and row["held"])

    async def leave(self, lease: Lease, delay: timedelta) -> None:
        """Hand the lane back on purpose, to be taken again after `delay`; its turn goes on, no attempt is burnt."""
        await self._database.call("select leave_lane($1,$2,$3,$4)", lease.tenant_id, lease.lane_id, lease.fence, delay)

    async def begin(self, lease: Lease) -> BegunTurn | None:
        """Begin or resume the lane's turn; None when nothing waits (the lease is then given back)."""
        row = await self._database.call(
            "select * from begin_turn($1,$2,$3,$4,$5)",
            lease.tenant_id,
            lease.lane_id,
            lease.fence,
            lease.owner,
            self._make_id("turn"),
        )
        if row is None:
            return None
        async with self._database.tenant(lease.tenant_id) as connection:
            turn = await self._load(connection, lease, row["turn_id"], row["attempts"])
        return replace(turn, blamed=row["blamed"], suspect=row["suspect"])

    async def finish(
        self,
        lease: Lease,
        turn_id: str,
        *,
        state: str,
        reason: str,
        usage: TokenUsage,
        history: Sequence[ChatMessage],
        outbound: Sequence[OutboundMessage],
        absorbed: Sequence[str] = (),
        new_session: bool = False,
        pool: Sequence[PoolEntry] = (),
        waiting_step: int | None = None,
        run: RunNote | None = None,
        cards: Sequence[Card] = (),
        cards_in: str = "",
        hold_cards: bool = False,
    ) -> bool:
        """Commit all that the turn leaves behind; True when more inbound came and the lease is kept.

        A `run` has neither history nor outbound of a conversation: it is noted instead how it stands, and its cards
        go to the conversation `cards_in`, to be held there with `hold_cards` until somebody lets them go.
        """
        noted = ", close_steps($1,$4)" if state in ("failed", "poison") else ""
        noted += ", note_run($14,$15,$16,$17,$18,$19,$20,$21,$22), owe($23,$24,$25,$26)" if run else ""
        rows = [card.to_json() | {"held": hold_cards} for card in cards]
        row = await self._database.call(
            f"select finish_turn($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13) as more{noted}",
            lease.tenant_id,
            lease.lane_id,
            lease.fence,
            turn_id,
            state,
            reason,
            usage.to_json(),
            [message.to_json() for message in history],
            [*(asdict(message) for message in outbound), *([] if run else rows)],
            list(absorbed),
            new_session,
            [entry.to_json() for entry in pool],
            waiting_step,
            *((*run.arguments(lease.tenant_id, turn_id), lease.tenant_id, cards_in, turn_id, rows) if run else ()),
        )
        return bool(row and row["more"])

    async def fail(self, lease: Lease, turn_id: str | None, absorbed: Sequence[str] = ()) -> bool:
        """End a turn that cannot end by itself, or without one whatever cannot begin; True when more waits."""
        lane = (lease.tenant_id, lease.lane_id, lease.fence)
        return await fail_turn(self._database, lane, turn_id, self._make_id("out"), absorbed)

    async def say_more(self, lease: Lease, turn_id: str) -> bool:
        """Owe the next portion of the conversation's last answer; False where nothing is kept of it."""
        row = await self._database.call(
            "select say_more($1,$2,$3,$4,$5) as said",
            lease.tenant_id,
            lease.lane_id,
            turn_id,
            self._make_id("out"),
            REST_KEPT,
        )
        return bool(row and row["said"])

    def stream_row(self, lease: Lease, turn_id: str) -> StreamRow:
        """Return the row in which a turn's answer may grow on the screen."""
        return StreamRow(self._database, lease.tenant_id, lease.lane_id, lease.fence, turn_id, self._make_id("out"))

    async def _load(self, connection: Connection, lease: Lease, turn_id: str, attempts: int) -> BegunTurn:
        if is_run(lease.lane_id):
            return await self._load_run(connection, lease, turn_id, attempts)
        turn = await connection.fetchrow(
            "select c.channel, c.account, c.peer, c.thread, c.id as conversation_id, c.session, t.tenant_id,"
            " p.role, p.tier, i.user_key, i.state as sender_state, i.admitted,"
            " t.waiting_step, p.name, p.language, coalesce(nullif(p.timezone, ''), 'UTC') as timezone,"
            " p.timezone <> '' as timezone_known, p.while_running"
            " from turns t join conversations c on c.tenant_id = t.tenant_id and c.id = t.conversation_id"
            " join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id"
            " join tenants p on p.tenant_id = t.tenant_id where t.tenant_id = $1 and t.id = $2",
            lease.tenant_id,
            turn_id,
        )
        if turn is None:
            raise LeaseLost
        inbound = await connection.fetch(
            "select i.id, i.text, i.received_at, jsonb_array_length(i.media) as media_count, i.command, i.origin,"
            " answered_card(i.tenant_id, i.conversation_id, i.reply_to) as about from inbound i"
            " where i.tenant_id = $1 and i.turn_id = $2 and i.state = 'taken' order by i.seq",
            lease.tenant_id,
            turn_id,
        )
        history = await connection.fetch(
            "select message from (select position, message from history where tenant_id = $1"
            " and conversation_id = $2 and session = $3 order by position desc limit $4) recent order by position",
            lease.tenant_id,
            turn["conversation_id"],
            turn["session"],
            HISTORY_ROWS,
        )
        request = TurnRequest(
            turn_id=turn_id,
            tenant=TurnTenant(
                turn["tenant_id"],
                turn["name"],
                turn["language"],
                turn["timezone"],
                turn["role"],
                turn["tier"],
                turn["timezone_known"],
            ),
            while_running=WhileRunning(turn["while_running"]),
            channel=turn["channel"],
            sender=TurnSender(turn["account"], turn["user_key"], turn["sender_state"], turn["admitted"]),
            inbound=tuple(_turn_message(row) for row in inbound),
            journal=PostgresJournal(self._database, lease, turn_id),
            history=tuple(ChatMessage.from_json(row["message"]) for row in history),
            attempt=attempts,
            conversation_id=turn["conversation_id"],
            pool=await _pool(connection, lease.tenant_id, turn_id),
            approvals=await load_approvals(connection, lease.tenant_id, turn_id),
            go_on_at=turn["waiting_step"],
        )
        request = replace(request, control=PostgresControl(self._database, lease, turn_id))
        command = next((Command(**row["command"]) for row in inbound if row["command"]), None)
        address = Address(turn["channel"], turn["account"], turn["peer"], turn["thread"])
        return BegunTurn(turn_id, attempts, address, request, command)

    async def _load_run(self, connection: Connection, lease: Lease, turn_id: str, attempts: int) -> BegunTurn:
        turn = await load_run_turn(connection, lease.tenant_id, turn_id, self._channels)
        request = TurnRequest(
            turn_id=turn_id,
            tenant=turn.tenant,
            channel=turn.channel,
            inbound=(),
            journal=PostgresJournal(self._database, lease, turn_id),
            history=turn.history,
            attempt=attempts,
            control=RunControl(PostgresControl(self._database, lease, turn_id)),
            conversation_id=turn.conversation_id,
            pool=await _pool(connection, lease.tenant_id, turn_id),
            approvals=await load_approvals(connection, lease.tenant_id, turn_id),
            go_on_at=turn.waiting_step,
        )
        return BegunTurn(turn_id, attempts, Address(turn.channel, "", ""), request, None, turn.run_id)


class PostgresJournal:
    """The journal of one turn, written under its lease."""

    def __init__(self, database: Database, lease: Lease, turn_id: str) -> None:
        self._database = database
        self._lease = lease
        self._turn_id = turn_id

    async def recorded(self) -> Sequence[StepRecord]:
        """Return every row of this turn, by key."""
        async with self._database.tenant(self._lease.tenant_id) as connection:
            rows = await connection.fetch(
                "select * from steps where tenant_id = $1 and turn_id = $2 order by agent_path, step, call_index",
                self._lease.tenant_id,
                self._turn_id,
            )
        return [_step_record(row) for row in rows]

    async def write(self, record: StepRecord) -> None:
        """Commit a row under its key. Raises `LeaseLost` when another worker has the turn by now."""
        await self._database.call(
            "select record_step($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17)",
            self._lease.tenant_id,
            self._lease.lane_id,
            self._lease.fence,
            self._turn_id,
            record.key.agent_path,
            record.key.step,
            record.key.call_index,
            record.kind.value,
            storable(record.name),
            record.arguments_hash,
            record.effect.value,
            record.state.value,
            record.outcome.value,
            record.idempotency_key,
            record.result,
            record.usage.to_json(),
            record.duration_ms,
        )

    async def outcome_unknown(self, name: str, arguments_hash: str) -> bool:
        """Return whether the newest end of this call, in any turn of the tenant, is unknown."""
        async with self._database.tenant(self._lease.tenant_id) as connection:
            outcome = await connection.fetchval(
                "select outcome from steps where tenant_id = $1 and name = $2 and args_hash = $3"
                " and state = 'done' and outcome in ('ok', 'unknown') order by finished_at desc limit 1",
                self._lease.tenant_id,
                name,
                arguments_hash,
            )
        return bool(outcome == Outcome.UNKNOWN.value)


class PostgresControl:
    """What reaches a turn while it runs: the person's stop, and what they wrote meanwhile."""

    def __init__(self, database: Database, lease: Lease, turn_id: str) -> None:
        self._database = database
        self._lease = lease
        self._turn_id = turn_id

    async def stopped(self) -> str | None:
        """Return the message of a requested stop, None to go on."""
        async with self._database.tenant(self._lease.tenant_id) as connection:
            message = await connection.fetchval(
                "select stop_message from turns where tenant_id = $1 and id = $2",
                self._lease.tenant_id,
                self._turn_id,
            )
        return cast("str | None", message)

    async def absorb(self) -> Sequence[TurnMessage]:
        """Return the waiting messages of this conversation up to the next command, in order."""
        async with self._database.tenant(self._lease.tenant_id) as connection:
            rows = await connection.fetch(
                "select i.id, i.text, i.received_at, jsonb_array_length(i.media) as media_count, i.origin,"
                " answered_card(i.tenant_id, i.conversation_id, i.reply_to) as about"
                " from inbound i join turns t on t.tenant_id = i.tenant_id and t.conversation_id = i.conversation_id"
                " where t.tenant_id = $1 and t.id = $2 and i.state = 'waiting' and i.seq < coalesce("
                "  (select min(k.seq) from inbound k where k.tenant_id = i.tenant_id"
                "   and k.conversation_id = i.conversation_id and k.state = 'waiting' and k.command is not null),"
                "  i.seq + 1) order by i.seq",
                self._lease.tenant_id,
                self._turn_id,
            )
        return [_turn_message(row) for row in rows]


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


def _turn_message(row: asyncpg.Record) -> TurnMessage:
    origin = Origin(row["origin"])
    return TurnMessage(row["id"], row["text"], row["received_at"], row["media_count"], row["about"] or "", origin)


def _step_record(row: asyncpg.Record) -> StepRecord:
    return StepRecord(
        key=StepKey(row["step"], row["call_index"], row["agent_path"]),
        kind=StepKind(row["kind"]),
        name=row["name"],
        state=StepState(row["state"]),
        arguments_hash=row["args_hash"],
        effect=Effect(row["effect"]),
        outcome=Outcome(row["outcome"]),
        result=cast(JsonObject, row["result"]),
        usage=TokenUsage.from_json(row["usage"]),
        duration_ms=row["duration_ms"],
        idempotency_key=row["idempotency_key"],
    )
