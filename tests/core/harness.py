"""Inbox, turns and outbox on one database, and an admin connection that no row policy limits."""

import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta

import asyncpg

from core.db.database import Database
from core.errors import StoreUnavailable
from core.inbox.inbox import Inbox
from core.journal.types import Lease
from core.llm.types import ChatMessage, Role, TokenUsage
from core.messaging.calls import PartEnd
from core.messaging.channels import Part, Receipt, Received
from core.messaging.due_messages import Claim
from core.messaging.messages import (
    Address,
    Command,
    InboundMessage,
    OutboundKind,
    OutboundMessage,
    ReachabilityChange,
    ReachabilityReason,
)
from core.messaging.outbox import Outbox
from core.messaging.states import CallOutcome, SendState
from core.people.access_policy import Access, Policy
from core.turns.store import TurnStore
from core.turns.stored import BegunTurn, TurnEnd
from core.turns.types import TurnState
from tests.core.rows import Rows

CHANNEL, ACCOUNT = "sms", "+15550009999"
LEASE = timedelta(seconds=30)
OPEN = Access(Policy.OPEN)


class Ids:
    """Create ids that sort in the order of their creation."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def __call__(self, prefix: str) -> str:
        """Return the next id."""
        return f"{prefix}_{next(self._numbers):06d}"


@dataclass(slots=True)
class RecordedWakeups:
    """Record wakeups instead of sending them."""

    turns: list[str] = field(default_factory=list)
    deliveries: list[str] = field(default_factory=list)
    queued: list[tuple[str, str]] = field(default_factory=list)
    interrupts: list[str] = field(default_factory=list)
    later: list[tuple[str, str, timedelta]] = field(default_factory=list)

    def wake_turn(self, lane_id: str) -> None:
        """Record a lane."""
        self.turns.append(lane_id)

    def wake_delivery(self, conversation_id: str) -> None:
        """Record a conversation."""
        self.deliveries.append(conversation_id)

    def wake(self, queue: str, row_id: str) -> None:
        """Record a row of another queue."""
        self.queued.append((queue, row_id))

    def interrupt_turn(self, lane_id: str) -> None:
        """Record a stop."""
        self.interrupts.append(lane_id)

    def come_due(self, work: str, row_id: str, after: timedelta) -> None:
        """Record what is due later."""
        self.later.append((work, row_id, after))


class TwiceDatabase(Database):
    """A database that loses every answer once: each statement runs twice, and its second answer counts."""

    PAUSING = ("claim_followups(", "claim_lapsed_answers(")
    """Claims that run once: if their answer is lost, their rows come again after a pause."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.differing: list[str] = []

    async def rows(self, statement: str, *args: object) -> list[asyncpg.Record]:
        """Run the statement twice and record it if the answers differ."""
        if any(claim in statement for claim in self.PAUSING):
            return await super().rows(statement, *args)
        first = await super().rows(statement, *args)
        second = await super().rows(statement, *args)
        if first != second:
            self.differing.append(statement)
        return second


class DumbDatabase(Database):
    """A database that executes everything, but whose next `losing` answers never arrive."""

    losing = 0

    async def rows(self, statement: str, *args: object) -> list[asyncpg.Record]:
        """Run the statement; raise if its answer is to be lost."""
        rows = await super().rows(statement, *args)
        if self.losing:
            self.losing -= 1
            raise StoreUnavailable("the answer was lost")
        return rows


@dataclass(slots=True)
class Store:
    """The stores on one database. `admin` is a superuser's connection, which no row policy limits."""

    url: str
    database: Database
    admin: "asyncpg.Connection[asyncpg.Record]"
    wakeups: RecordedWakeups = field(default_factory=RecordedWakeups)
    make_id: Ids = field(default_factory=Ids)

    @property
    def inbox(self) -> Inbox:
        """Return the inbox."""
        return Inbox(self.database, self.wakeups, self.make_id, OPEN)

    @property
    def turns(self) -> TurnStore:
        """Return the turns."""
        return TurnStore(self.database, self.make_id, LEASE)

    @property
    def outbox(self) -> Outbox:
        """Return the outbox."""
        return Outbox(self.database, self.make_id, LEASE)

    async def say(self, text: str, *, sender: str = "+15550000001", command: str = "") -> Received:
        """Store a person's message, or a command with its text as the argument."""
        typed = Command(command, text) if command else None
        return await self.inbox.accept(message(text, sender, self.make_id("SM"), command=typed))

    async def reach(self, sender: str, reachable: bool, key: str) -> Received:
        """Store a STOP or a START."""
        reason = ReachabilityReason.OPTED_IN if reachable else ReachabilityReason.OPTED_OUT
        return await self.inbox.accept(ReachabilityChange(CHANNEL, ACCOUNT, sender, reachable, reason, (key,)))

    async def claim_turn(self, worker: str = "w1") -> tuple[Lease, BegunTurn]:
        """Claim the lane that has waited longest and begin its turn."""
        lease = await self.turns.claim(None, worker)
        assert lease is not None
        turn = await self.turns.begin(lease)
        assert turn is not None
        return lease, turn

    async def finish(self, lease: Lease, turn: BegunTurn, *replies: str, **more: object) -> bool:
        """Finish a turn with replies."""
        messages = [ChatMessage(Role.USER, m.text) for m in turn.request.inbound]
        arguments = {
            "state": "done",
            "reason": "",
            "usage": TokenUsage(1, 2),
            "history": [*messages, *(ChatMessage(Role.ASSISTANT, text) for text in replies)],
            "outbound": [OutboundMessage(self.make_id("out"), OutboundKind.REPLY, text) for text in replies],
        }
        end = TurnEnd(**(arguments | more))  # type: ignore[arg-type]
        end, steps = replace(end, state=TurnState(end.state)), turn.request.work.journal.waiting()
        waits, _ = await self.turns.finish(lease, turn.turn_id, end, steps, None)
        return waits

    async def enqueue(self, *replies: str, sender: str = "+15550000001") -> None:
        """Answer a person's message with these replies, ready to be sent."""
        await self.say("hello", sender=sender)
        lease, turn = await self.claim_turn()
        assert not await self.finish(lease, turn, *replies)

    async def enqueue_in(
        self, tenant_id: str, conversation_id: str, messages: Sequence[OutboundMessage], *, held: bool = False
    ) -> None:
        """Put messages into a conversation's outbox outside of a turn; held ones wait for `release`."""
        rows = [asdict(message) | {"held": held} for message in messages]
        await self.database.call("select enqueue($1,$2,$3,$4)", tenant_id, conversation_id, None, rows)

    async def release(self, tenant_id: str, outbound_id: str) -> bool:
        """Release a held message; return False if it was not held."""
        row = await self.database.call("select release_outbound($1,$2) as released", tenant_id, outbound_id)
        return bool(row and row["released"])

    async def claim_sending(self, *texts: str, worker: str = "s1") -> Claim:
        """Claim the outbound row that is due and store its rendering."""
        claim = await self.outbox.claim(None, worker)
        assert claim is not None
        await self.outbox.keep_parts(claim, [Part(text) for text in texts])
        return claim

    async def send(self, claim: Claim, part: int = 1, attempt: int = 1, end: PartEnd | None = None) -> str:
        """Attempt to send a part; by default the provider accepts it."""
        await self.outbox.begin_delivery(claim, part, attempt)
        return await self.outbox.end_delivery(claim, part, attempt, end or sent(f"SM{claim.outbound_id}{part}"))

    async def expire(self) -> None:
        """Expire every lease now."""
        for table in ("lanes", "outbound"):
            await self.admin.execute(
                f"update {table} set lease_until = clock_timestamp() - interval '1 second'"  # noqa: S608
                " where owner is not null"
            )

    async def end_pauses(self) -> None:
        """Make due what is to come again after a pause."""
        paused = "select table_name::text from information_schema.columns where column_name = 'next_attempt_at'"
        for table in await self.column(paused):
            await self.admin.execute(
                f"update {table} set next_attempt_at = clock_timestamp() where next_attempt_at > clock_timestamp()"  # noqa: S608
            )

    async def make_due(self) -> None:
        """Make every open row due now."""
        await self.admin.execute("update outbound set next_attempt_at = clock_timestamp() - interval '1 second'")

    @property
    def db(self) -> Rows:
        """Return the rows of all tenants, by the names of their tables."""
        return Rows(self.admin)

    async def column(self, query: str, *args: object) -> list[object]:
        """Return the first column of a query over all tenants."""
        return [row[0] for row in await self.admin.fetch(query, *args)]

    async def one(self, query: str, *args: object) -> object:
        """Return one value of a query over all tenants."""
        return await self.admin.fetchval(query, *args)

    async def everything(self) -> dict[str, list[asyncpg.Record]]:
        """Return all rows of all tables, to compare with a later state."""
        tables = await self.column("select tablename::text from pg_tables where schemaname = 'public' order by 1")
        return {
            str(t): await self.admin.fetch(f"select * from {t} x order by x::text")  # noqa: S608
            for t in tables
        }


def message(
    text: str,
    sender: str = "+15550000001",
    *keys: str,
    thread: str = "",
    command: Command | None = None,
    name: str = "",
) -> InboundMessage:
    """Create an inbound message as a channel parses it."""
    return InboundMessage(
        address=Address(CHANNEL, ACCOUNT, sender, thread),
        sender=sender,
        keys=keys,
        text=text,
        command=command,
        sender_name=name,
        provider_id=keys[0] if keys else "",
    )


def sent(provider_id: str) -> PartEnd:
    """Return the end of a part that the provider accepted."""
    return PartEnd(SendState.SENT, CallOutcome.ACCEPTED, Receipt(provider_id))


@asynccontextmanager
async def opened(url: str, database: Database | None = None) -> AsyncIterator[Store]:
    """Open a store on a migrated database."""
    database = database or Database(url)
    admin = await asyncpg.connect(url)
    await admin.set_type_codec("jsonb", schema="pg_catalog", encoder=str, decoder=str, format="text")
    try:
        yield Store(url, database, admin)
    finally:
        await admin.close()
        await database.close()
