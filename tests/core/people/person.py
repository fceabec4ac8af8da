"""One of two people who act at random over every store, in the application role; also a program.

`python -m tests.core.people.person URL NUMBER SEED STEPS`
"""

import asyncio
import random
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from core.agents.pool_entry import PoolEntry
from core.agents.standard_agent import AgentStatus
from core.clock import Clock
from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.errors import LeaseLost
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.journal.types import Effect, Outcome, StepKey, StepKind, StepRecord, StepState
from core.llm.types import ChatMessage, Role, TokenUsage
from core.messaging.calls import Begun, PartEnd
from core.messaging.channels import Part, Receipt
from core.messaging.messages import Address, InboundMessage, OutboundKind, OutboundMessage
from core.messaging.outbox import Outbox
from core.messaging.states import CallOutcome, SendState
from core.people.preferences import PreferenceStore
from core.people.profile import FactSource, ProfileStore
from core.people.tenant_tables import tenant_tables
from core.tools.storage import Storage
from core.turns.store import TurnStore
from core.turns.stored import BegunTurn, TurnEnd
from core.turns.types import TurnState
from tests.core.harness import LEASE, OPEN, RecordedWakeups

USERS = ("U0abc", "U0ABC")
"""Two people whose ids differ in case only."""
KEYS = SecretKeys([SecretKey("k", b"k" * 32)])


def mark_of(user: str) -> str:
    """Return the mark in everything that belongs to a person, and in nothing of the other's."""
    return f"mark{USERS.index(user)}zq"


class Strange(AssertionError):
    """Data of the other person was seen."""


@dataclass(slots=True)
class Actor:
    """One person with stores of their own over a shared database."""

    url: str
    number: int
    seed: int
    tenant: str = ""
    done: dict[str, int] = field(default_factory=dict)
    database: Database = field(init=False)

    async def act(self, steps: int) -> None:
        """Do `count` things at random; raise if any data of the other person shows."""
        chance = random.Random(f"{self.seed}/{self.number}")
        self.database = Database(self.url, size=2)
        try:
            await self.say(chance)
            row = await self.database.call("select * from find_identity('slack', 'T1', $1)", self.user)
            assert row is not None
            self.tenant = row["tenant_id"]
            deeds = [self.say, self.work, self.send] * 2
            deeds += [self.keep, self.seal, self.spend, self.prefer, self.learn, self.look]
            for _ in range(steps):
                deed = chance.choice(deeds)
                await deed(chance)
                self.done[deed.__name__] = self.done.get(deed.__name__, 0) + 1
            await self.look(chance)
        finally:
            await self.database.close()

    @property
    def user(self) -> str:
        return USERS[self.number]

    @property
    def mark(self) -> str:
        return mark_of(self.user)

    def mine(self, seen: object, mark: str = "") -> None:
        """Raise if a value holds data of the other person."""
        other = {mark_of(user) for user in USERS} - {mark or self.mark}
        if any(value in str(seen) for value in other):
            raise Strange(f"{mark or self.mark} saw {seen}")

    async def say(self, chance: random.Random) -> None:
        inbox = Inbox(self.database, RecordedWakeups(), make_id, OPEN)
        key = f"{self.mark}:{chance.randrange(40)}"  # some come twice
        text = f"{self.mark} {chance.random()}"
        await inbox.accept(InboundMessage(Address("slack", "T1", self.user), self.user, (key,), text, provider_id=key))

    async def work(self, chance: random.Random) -> None:
        turns = TurnStore(self.database, make_id, LEASE)
        lease = await turns.claim(None, f"w{self.number}")
        if lease is None:
            return
        turn = await turns.begin(lease)
        while turn is not None:
            more = await self._turn(turns, turn, chance)
            turn = await turns.begin(lease) if more else None

    async def _turn(self, turns: TurnStore, turn: BegunTurn, chance: random.Random) -> bool:
        request, lease = turn.request, turn.request.work.journal._lease  # type: ignore[attr-defined]
        assert request.sender is not None
        mark = mark_of(request.sender.user_key)
        self.mine((request.inbound, request.kept.history, request.kept.pool, request.tenant), mark)
        key = StepKey(0, 0)
        await request.work.journal.write(
            StepRecord(key, StepKind.MODEL, "m", StepState.DONE, "", Effect.READ, Outcome.OK, {"text": mark})
        )
        waits = chance.random() < 0.2
        entry = PoolEntry(
            make_id("agent"), "A", request.place.conversation_id, turn.turn_id, "0.0/A", "c",
            AgentStatus.WAITING_FOR_INPUT, "1", datetime.now(UTC) + timedelta(hours=1), question=mark,
        )  # fmt: skip
        messages = [ChatMessage(Role.USER, message.text) for message in request.inbound]
        more, _ = await turns.finish(
            lease,
            turn.turn_id,
            TurnEnd(
                state=TurnState.WAITING if waits else TurnState.DONE,
                reason="",
                usage=TokenUsage(1, 1),
                history=[*messages, ChatMessage(Role.ASSISTANT, f"re {mark}")],
                outbound=[OutboundMessage(make_id("out"), OutboundKind.REPLY, f"re {mark}")],
                pool=[entry] if waits else [],
                waiting_step=0 if waits else None,
            ),
            (),
            None,
        )
        return more

    async def send(self, chance: random.Random) -> None:
        outbox = Outbox(self.database, make_id, LEASE)
        claim = await outbox.claim(None, f"w{self.number}")
        if claim is None:
            return
        due = await outbox.load(claim)
        self.mine(due.message.text, mark_of(due.address.peer))
        await outbox.keep_parts(claim, [Part(due.message.text)])
        try:
            if await outbox.begin_delivery(claim, 1, 1) is Begun.GO:
                end = PartEnd(SendState.SENT, CallOutcome.ACCEPTED, Receipt(make_id("p")))
                await outbox.end_delivery(claim, 1, 1, end)
                await outbox.settle(claim)
        except LeaseLost:
            pass

    async def keep(self, chance: random.Random) -> None:
        storage = Storage(self.database).for_tenant(self.tenant)
        key = f"k{chance.randrange(4)}"
        match chance.randrange(3):
            case 0:
                await storage.put("notes", key, {"text": self.mark})
            case 1:
                await storage.delete("notes", key)
        self.mine(await storage.list("notes"))
        self.mine(await storage.get("notes", key))

    async def seal(self, chance: random.Random) -> None:
        store = CredentialStore(self.database, KEYS).for_tenant(self.tenant)
        name = f"a{chance.randrange(3)}"
        if chance.random() < 0.5:
            await store.save(self.tenant, "mail", {"token": self.mark}, name)
        elif chance.random() < 0.3:
            await store.delete(self.tenant, "mail", name)
        credentials = await store.get(self.tenant, "mail", name)
        if credentials is not None and credentials != {"token": self.mark}:
            raise Strange(str(credentials))
        self.mine(await store.list(self.tenant))

    async def spend(self, chance: random.Random) -> None:
        async with self.database.tenant(self.tenant) as connection:
            await connection.execute(
                "insert into spending as s (tenant_id, day, task_id, spent) values ($1, '2026-01-01', $2, $3)"
                " on conflict (tenant_id, day, task_id) do update set spent = s.spent + excluded.spent",
                self.tenant, self.mark, Decimal("0.01"),
            )  # fmt: skip
            self.mine(await connection.fetch("select * from spending"))
            await connection.execute(
                "insert into usage_days as u (tenant_id, day, task_id, kind, name, calls)"
                " values ($1, '2026-01-01', $2, 'model', 'gpt-5', 1)"
                " on conflict (tenant_id, day, task_id, kind, name) do update set calls = u.calls + excluded.calls",
                self.tenant, self.mark,
            )  # fmt: skip
            self.mine(await connection.fetch("select * from usage_days"))

    async def prefer(self, chance: random.Random) -> None:
        store = PreferenceStore(self.database)
        await store.set(self.tenant, "name", f"{self.mark} {chance.randrange(9)}")
        self.mine(await store.read(self.tenant))

    async def learn(self, chance: random.Random) -> None:
        store = ProfileStore(self.database, make_id)
        value = f"{self.mark} {chance.randrange(3)}"
        number = await store.keep(self.tenant, f"k{chance.randrange(3)}", value, FactSource.TOLD, "", Clock().now())
        if number and chance.random() < 0.3:
            self.mine(await store.undo(self.tenant, number, Clock().now(), make_id("call")))
        self.mine(await store.read(self.tenant))

    async def look(self, chance: random.Random) -> None:
        """Read every table without a condition on the tenant."""
        async with self.database.tenant(self.tenant) as connection:
            for table in tenant_tables():
                rows = await connection.fetch(f"select * from {table}")  # noqa: S608
                self.mine([tuple(row.values()) for row in rows])


def main() -> None:
    """Act as one of the two people."""
    url, number, seed, steps = sys.argv[1:]
    asyncio.run(Actor(url, int(number), int(seed)).act(int(steps)))


if __name__ == "__main__":
    main()
