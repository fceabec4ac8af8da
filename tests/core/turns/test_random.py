"""Anything in any order: a seeded driver does to inbox, turns and outbox what people, workers and providers do,
with deaths in between, and the invariants of the notes hold after every act and in the end.

I1 every message has one row. I2 each ends in a reply or a recorded reason. I3 the provider takes no part twice.
I4 what it takes of a conversation is in order of seq. I5 one turn of a conversation at a time. I8 whatever a
dead process held is taken over. I9 nothing is sent after a STOP.
"""

import random
from collections import defaultdict
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from core.errors import LeaseLost
from core.journal.types import Lease
from core.messaging.calls import Begun, PartEnd
from core.messaging.channels import Part, Receipt
from core.messaging.due_messages import Claim, KeptPart
from core.messaging.messages import Command, DeliveryStatus, ReachabilityChange, ReachabilityReason, StatusUpdate
from core.messaging.states import CallOutcome, IdentityState, SendState
from core.turns.stored import BegunTurn
from tests.core.harness import ACCOUNT, CHANNEL, Store, message
from tests.core.turns.test_store import step
from tests.examples import sized

PEOPLE = [f"+1555000000{n}" for n in range(3)]
ACTS = {
    "write": 8, "repeat": 4, "command": 2, "reach": 2, "take_lane": 8, "absorb": 2, "journal": 3, "finish": 8,
    "leave": 1, "lane_dies": 2, "take_row": 8, "call": 10, "answer": 8, "row_dies": 2, "give_back": 1, "call_back": 4,
}  # fmt: skip


@dataclass(slots=True)
class Call:
    """A provider call on its way: whether it was taken, and by whom it was made."""

    claim: Claim
    part: KeptPart
    attempt: int
    taken: bool


@dataclass(slots=True)
class World:
    """The people, the workers and the provider; the store is what is tested."""

    store: Store
    chance: random.Random
    said: dict[str, list[tuple[str, ...]]] = field(default_factory=lambda: defaultdict(list))
    rows: dict[str, str] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    lanes: list[tuple[Lease, BegunTurn]] = field(default_factory=list)
    senders: list[Claim] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    accepted: dict[str, str] = field(default_factory=dict)
    heard: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    refused: int = 0

    async def write(self) -> None:
        await self._write(None)

    async def command(self) -> None:
        await self._write(Command(self.chance.choice(["stop", "new", "help"])))

    async def _write(self, command: Command | None) -> None:
        sender, number = self.chance.choice(PEOPLE), len(self.rows)
        keys = (f"a{number}", f"b{number}", f"c{number}")
        self.said[sender].append(keys)
        reported = keys[: self.chance.randint(1, 3)]
        received = await self.store.inbox.accept(message(f"m{number}", sender, *reported, command=command))
        assert not received.duplicate
        self.rows[keys[0]] = str(received.id)

    async def repeat(self) -> None:
        sender = self.chance.choice(PEOPLE)
        if self.said[sender]:
            keys = self.chance.choice(self.said[sender])
            reported = (keys[0], *self.chance.sample(keys[1:], self.chance.randint(0, 2)))
            received = await self.store.inbox.accept(
                message("again", sender, *self.chance.sample(reported, len(reported)))
            )
            assert (received.id, received.duplicate) == (self.rows[keys[0]], True)

    async def reach(self) -> None:
        sender, reason = self.chance.choice(PEOPLE), self.chance.choice(list(ReachabilityReason))
        back = reason in (ReachabilityReason.OPTED_IN, ReachabilityReason.UNBLOCKED)
        change = ReachabilityChange(CHANNEL, ACCOUNT, sender, back, reason, (self.store.make_id("k"),))
        await self.store.inbox.accept(change)

    async def take_lane(self) -> None:
        if lease := await self.store.turns.claim(None, self.store.make_id("w")):
            turn = await self.store.turns.begin(lease)
            assert turn is not None
            self.lanes.append((lease, turn))

    async def absorb(self) -> None:
        if self.lanes:
            _, turn = self.chance.choice(self.lanes)
            assert turn.request.work.control is not None
            taken = {m.id for m in turn.request.inbound}
            assert not taken & {m.id for m in await turn.request.work.control.absorb()}

    async def journal(self) -> None:
        if self.lanes:
            lease, turn = self.chance.choice(self.lanes)
            await self._fenced(lease, turn.request.work.journal.write(step(self.chance.randint(0, 3))))

    async def finish(self) -> None:
        if not self.lanes:
            return
        lease, turn = self.lanes.pop(self.chance.randrange(len(self.lanes)))
        assert turn.request.work.control is not None
        absorbed = [m.id for m in await turn.request.work.control.absorb()] if self.chance.random() < 0.5 else []
        replies = ["reply"] * self.chance.choice([0, 1, 1, 2])
        reason = "" if replies else "nothing to say"
        more = await self._fenced(lease, self.store.finish(lease, turn, *replies, absorbed=absorbed, reason=reason))
        if more:
            following = await self.store.turns.begin(lease)
            assert following is not None
            self.lanes.append((lease, following))

    async def leave(self) -> None:
        if self.lanes:
            lease, _ = self.lanes.pop(self.chance.randrange(len(self.lanes)))
            await self._fenced(lease, self.store.turns.leave(lease, timedelta()))

    async def lane_dies(self) -> None:
        await self._expire("lanes")

    async def row_dies(self) -> None:
        await self._expire("outbound")

    async def _expire(self, table: str) -> None:
        await self.store.admin.execute(
            f"update {table} set lease_until = clock_timestamp() - interval '1 s' where id ="  # noqa: S608
            f" (select id from {table} where owner is not null order by md5(id || $1) limit 1)",
            str(self.chance.random()),
        )

    async def take_row(self) -> None:
        if claim := await self.store.outbox.claim(None, "s"):
            self.senders.append(claim)

    async def call(self) -> None:
        """Go on with a claimed row as a sender does, up to a call on its way."""
        if not self.senders:
            return
        claim = self.senders.pop(self.chance.randrange(len(self.senders)))
        try:
            await self._next_part(claim)
        except LeaseLost:
            await self._must_be_stale(claim)

    async def _next_part(self, claim: Claim) -> None:
        outbox = self.store.outbox
        due = await outbox.load(claim)
        if not due.reachable:
            await outbox.fail(claim, "stopped")
            return
        parts = await outbox.keep_parts(claim, [Part("a")] * self.chance.choice([1, 1, 2]))
        part = next((p for p in parts if p.state not in ("sent", "ambiguous")), None)
        if part is None:
            await outbox.settle(claim)
            return
        if part.state in ("sending", "checking") and part.ref in self.accepted:
            end = PartEnd(SendState.SENT, CallOutcome.FOUND, Receipt(self.accepted[part.ref]))
            if await outbox.end_delivery(claim, part.number, part.attempt, end) == "sending":
                self.senders.append(claim)
            return
        attempt = due.attempts + 1
        match await outbox.begin_delivery(claim, part.number, attempt):
            case Begun.GO:
                await self._hear(claim, part, attempt)
            case Begun.SENT:
                self.senders.append(claim)
            case Begun.UNREACHABLE:
                await outbox.fail(claim, "stopped")

    async def _hear(self, claim: Claim, part: KeptPart, attempt: int) -> None:
        """Be the provider: take the call or not, as chance will."""
        row = await self.store.admin.fetchrow(
            "select o.seq, i.state from outbound o join conversations c on c.id = o.conversation_id"
            " join identities i on i.id = c.identity_id where o.id = $1", claim.outbound_id,
        )  # fmt: skip
        assert row is not None
        assert row["state"] == "active", "I9"
        taken = self.chance.random() < 0.7
        if taken:
            assert part.ref not in self.accepted, "I3"
            self.accepted[part.ref] = f"SM{len(self.accepted)}"
            self.heard[claim.conversation_id].append((row["seq"], part.number))
        self.calls.append(Call(claim, part, attempt, taken))

    async def answer(self) -> None:
        """Let an answer of the provider come in, or get lost."""
        if not self.calls:
            return
        call = self.calls.pop(self.chance.randrange(len(self.calls)))
        fates = [
            PartEnd(SendState.CHECKING, CallOutcome.AMBIGUOUS),
            PartEnd(SendState.READY, CallOutcome.RETRY),
            PartEnd(SendState.READY, CallOutcome.RETRY),
        ]
        if self.chance.random() < 0.1:
            fates = [
                PartEnd(
                    SendState.FAILED,
                    CallOutcome.REJECTED,
                    identity_state=self.chance.choice([None, IdentityState.OPTED_OUT, IdentityState.BLOCKED]),
                )
            ]
        if call.taken:
            fates = [PartEnd(SendState.SENT, CallOutcome.ACCEPTED, Receipt(self.accepted[call.part.ref]))] * 3 + fates[
                :1
            ]
            fates = [f for f in fates if f.state != "failed"]
        try:
            end = self.chance.choice(fates)
            state = await self.store.outbox.end_delivery(call.claim, call.part.number, call.attempt, end)
        except LeaseLost:
            await self._must_be_stale(call.claim)
            return
        if state == "sending":
            self.senders.append(call.claim)

    async def give_back(self) -> None:
        if self.senders:
            claim = self.senders.pop()
            try:
                await self.store.outbox.give_back(claim)
            except LeaseLost:
                await self._must_be_stale(claim)

    async def call_back(self) -> None:
        if self.accepted:
            ref, sid = self.chance.choice(sorted(self.accepted.items()))
            status = self.chance.choice(list(DeliveryStatus))
            by_ref = self.chance.random() < 0.7
            await self.store.inbox.accept(StatusUpdate(CHANNEL, ACCOUNT, sid, ref if by_ref else "", status))

    async def _fenced[T](self, lease: Lease, work: Awaitable[T]) -> T | None:
        try:
            return await work
        except LeaseLost:
            self.refused += 1
            held = await self.store.db.lanes.one("owner", id=lease.lane_id)
            assert held != lease.owner, "refused although the lease is ours"
            return None

    async def _must_be_stale(self, claim: Claim) -> None:
        self.refused += 1
        held = await self.store.db.outbound.one("owner", id=claim.outbound_id)
        assert held != claim.owner, "refused although the lease is ours"


async def check(world: World) -> None:
    """Hold the invariants true that hold after every act."""
    store = world.store
    assert await store.db.inbound.count() == len(world.rows), "I1"
    stranded = await store.column(
        "select i.id from inbound i left join lanes l on l.id = i.conversation_id"
        " where i.state = 'waiting' and l.pending is not true"
    )
    assert stranded == [], "I1: a waiting message that no poll finds"
    lost = await store.column(
        "select i.id from inbound i join turns t on t.id = i.turn_id where i.state = 'taken' and t.state <> 'running'"
    )
    assert lost == [], "I2: taken by a turn that has ended"
    open_turns = await store.column(
        "select t.id from turns t join lanes l on l.id = t.lane_id where t.state = 'running' and not l.pending"
    )
    assert open_turns == [], "I8: a running turn whose lane no poll finds"
    two = await store.column(
        "select a.id from turns a join turns b on a.lane_id = b.lane_id and a.id <> b.id"
        " and a.started_at <= b.started_at and (a.finished_at is null or a.finished_at > b.started_at)"
    )
    assert two == [], "I5"
    for conversation, heard in world.heard.items():
        assert heard == sorted(heard), f"I4 in {conversation}"
    refs = await store.db.outbound_parts.column("ref", state="sent")
    assert set(refs) <= set(world.accepted), "told sent without its having been taken"


async def drain(world: World) -> None:
    """Let all who still hold something die, and healthy ones finish: everything must come to its end."""
    world.lanes.clear()
    world.senders.clear()
    world.calls.clear()
    await world.store.expire()
    acts = (world.take_lane, world.finish, world.take_row, world.call, world.answer)
    left = None
    for _ in range(300):
        for act in acts:
            await act()
        await world.store.make_due()
        left = await world.store.database.call("select * from count_work()")
        assert left is not None
        if not (left["waiting_messages"] or left["running_turns"] or left["open_outbound"]):
            return
    raise AssertionError(f"I8: still open {left}")


async def run_world(store: Store, seed: int, acts: int) -> World:
    """Do so many acts, and come to the end."""
    world = World(store, random.Random(seed))
    names, weights = list(ACTS), list(ACTS.values())
    for _ in range(acts):
        [act] = world.chance.choices(names, weights)
        await getattr(world, act)()
        await store.make_due()
        await check(world)
    await drain(world)
    await check(world)
    fates = await store.column(
        "select i.id from inbound i left join turns t on t.id = i.turn_id where i.state not in ('done', 'ignored')"
        " or (i.reason = '' and not exists (select from outbound o where o.turn_id = t.id))"
    )
    assert fates == [], "I2: neither reply nor reason"
    assert await store.one("select count(*) from outbound where state not in ('sent', 'failed', 'ambiguous')") == 0
    quiet = await store.column(
        "select ref from outbound_parts p join outbound o on o.id = p.outbound_id"
        " where o.state = 'sent' and p.state <> 'sent'"
    )
    assert quiet == []
    seqs = await store.column("select array_agg(seq order by seq) from inbound group by conversation_id")
    assert all(s == list(range(1, len(s) + 1)) for s in seqs if isinstance(s, list))
    return world


@pytest.mark.parametrize("seed", range(6))
async def test_promises_1_2_4_5_6_7_8_hold_under_any_sequence_of_events(store: Store, seed: int) -> None:
    world = await run_world(store, seed, 150)
    # It is no proof if hardly anything happened.
    assert len(world.rows) > 10
    assert world.accepted
    assert world.refused


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 100 + sized(5, full=200)))
async def test_promises_1_2_4_5_6_7_8_hold_in_many_worlds(store: Store, seed: int) -> None:
    await run_world(store, seed, 600)
