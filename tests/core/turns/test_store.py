"""Turns: one runner a conversation, whatever dies; everything a turn leaves behind in one transaction."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from core.errors import LeaseLost, StoreUnavailable
from core.journal.postgres import PostgresJournal
from core.journal.types import Effect, Lease, Outcome, StepKey, StepKind, StepRecord, StepState
from core.llm.types import ChatMessage, Role, TokenUsage
from core.messaging.due_messages import Claim
from core.messaging.messages import OutboundKind, OutboundMessage
from core.turns.stored import BegunTurn, TurnEnd
from core.turns.types import TurnState
from tests.core.harness import DumbDatabase, Store, TwiceDatabase, opened
from tests.patience import PATIENCE

ANN = "+15550000001"
NO_TIME = timedelta()


def step(
    number: int, state: StepState = StepState.DONE, text: str = "x", under: int | None = None, **more: object
) -> StepRecord:
    """Return a step of the journal. `under`: the fence of the lease under which its call began."""
    result = {"text": text} if under is None else {"text": text, "under": under}
    fields = {"effect": Effect.ONCE, "arguments_hash": "h", "result": result, "usage": TokenUsage(3, 4)}
    return StepRecord(StepKey(number, 1), StepKind.TOOL, "pay", state, **(fields | more))  # type: ignore[arg-type]


def waits(number: int, name: str) -> StepRecord:
    """Return the result of a tool that only reads."""
    return StepRecord(StepKey(number, 1), StepKind.TOOL, name, StepState.DONE, result={"text": "x"}, may_wait=True)


async def texts(store: Store) -> list[tuple[object, ...]]:
    return [tuple(r) for r in await store.admin.fetch("select text, state, turn_id from inbound order by seq")]


async def test_messages_that_wait_are_taken_together_in_order(store: Store) -> None:
    ids = [(await store.say(text)).id for text in ("one", "two", "three")]
    lease, turn = await store.claim_turn()
    assert [(m.id, m.text) for m in turn.request.inbound] == list(zip(ids, ("one", "two", "three"), strict=True))
    assert (turn.attempts, turn.command, turn.request.channel) == (1, None, "sms")
    assert not await store.finish(lease, turn, "hi")
    assert {state for _, state, _ in await texts(store)} == {"done"}


async def test_promise_4_a_lane_has_one_holder_and_conversations_are_independent(store: Store) -> None:
    for person in range(3):
        for n in range(2):
            await store.say(f"{n}", sender=f"+1555000000{person}")
    leases = await asyncio.gather(*(store.turns.claim(None, f"w{n}") for n in range(12)))
    held = [lease for lease in leases if lease]
    assert len(held) == len({lease.lane_id for lease in held}) <= 3
    held += [lease for _ in range(3) if (lease := await store.turns.claim(None, "w"))]
    assert len(held) == len({lease.lane_id for lease in held}) == 3


async def test_the_longest_waiting_lane_is_claimed_first_and_a_named_one_at_once(store: Store) -> None:
    for person in range(3):
        await store.say("hi", sender=f"+1555000000{person}")
    order = [str(id) for id in await store.db.lanes.column("id", order="pending_since")]
    named = await store.turns.claim(order[2], "w")
    rest = [await store.turns.claim(None, "w") for _ in range(2)]
    assert [lease.lane_id for lease in (named, *rest) if lease] == [order[2], order[0], order[1]]
    assert await store.turns.claim(order[2], "w") is None
    assert await store.turns.claim("cv_unknown", "w") is None


async def test_a_command_is_a_turn_of_its_own(store: Store) -> None:
    for text, command in [("a", ""), ("b", ""), ("", "new"), ("c", ""), ("", "help"), ("", "start"), ("d", "")]:
        await store.say(text, command=command)
    taken = []
    lease, turn = await store.claim_turn()
    while True:
        name = turn.command.name if turn.command else ""
        taken.append(name or "".join(m.text for m in turn.request.inbound))
        if not await store.finish(lease, turn, new_session=name == "new"):
            break
        following = await store.turns.begin(lease)
        assert following is not None
        turn = following
    assert taken == ["ab", "new", "c", "help", "start", "d"]
    assert await store.db.conversations.one("session") == 2


async def test_history_is_of_this_conversation_and_session_in_order(store: Store) -> None:
    for text in ("one", "two"):
        await store.say(text)
        lease, turn = await store.claim_turn()
        await store.finish(lease, turn, f"re {text}")
    await store.say("new", command="new")
    lease, turn = await store.claim_turn()
    assert [m.text for m in turn.request.kept.history] == ["one", "re one", "two", "re two"]
    assert [m.role for m in turn.request.kept.history] == [Role.USER, Role.ASSISTANT] * 2
    await store.finish(lease, turn, "fresh", new_session=True, history=[])
    await store.say("three")
    _, turn = await store.claim_turn()
    assert turn.request.kept.history == ()


async def test_messages_during_a_turn_are_absorbed_up_to_the_next_command(store: Store) -> None:
    await store.say("one")
    lease, turn = await store.claim_turn()
    control = turn.request.work.control
    assert control is not None
    assert await control.absorb() == []
    for text, command in [("two", ""), ("three", ""), ("", "new"), ("four", "")]:
        await store.say(text, command=command)
    absorbed = await control.absorb()
    assert [m.text for m in absorbed] == ["two", "three"]
    assert [m.text for m in await control.absorb()] == ["two", "three"]
    assert await store.finish(lease, turn, "hi", absorbed=[m.id for m in absorbed])
    assert await texts(store) == [
        *((text, "done", turn.turn_id) for text in ("one", "two", "three")),
        *((text, "waiting", None) for text in ("", "four")),
    ]


async def test_what_a_failed_turn_did_not_absorb_gets_the_next_turn(store: Store) -> None:
    await store.say("one")
    lease, turn = await store.claim_turn()
    await store.say("two")
    assert turn.request.work.control is not None
    await turn.request.work.control.absorb()
    assert await store.finish(lease, turn, "sorry", state="failed", reason="error")
    following = await store.turns.begin(lease)
    assert following is not None
    assert [m.text for m in following.request.inbound] == ["two"]


async def test_promise_5_a_dead_workers_turn_resumes_its_journal_as_an_attempt(
    store: Store,
) -> None:
    await store.say("pay")
    lease, turn = await store.claim_turn("w1")
    await turn.request.work.journal.write(step(0))
    await turn.request.work.journal.write(step(1, StepState.STARTED))
    assert await store.turns.claim(None, "w2") is None
    await store.expire()
    for attempt in (2, 3, 4):
        second, again = await store.claim_turn(f"w{attempt}")
        assert (again.turn_id, again.attempts, again.request.work.attempt) == (turn.turn_id, attempt, attempt)
        assert [m.text for m in again.request.inbound] == ["pay"]
        begun = step(1, StepState.STARTED, under=lease.fence)
        assert list(await again.request.work.journal.recorded()) == [step(0), begun]
        await store.expire()
    assert second.fence > lease.fence
    assert await store.db.turns.count() == 1


async def test_promise_5_a_stale_holder_can_write_nothing(store: Store) -> None:
    await store.say("hello")
    stale, old = await store.claim_turn("w1")
    await store.expire()
    lease, turn = await store.claim_turn("w2")
    before = await store.everything()
    refused: list[Callable[[], Awaitable[object]]] = [
        lambda: old.request.work.journal.write(step(0)),
        lambda: store.finish(stale, old, "stale"),
        lambda: store.turns.leave(stale, NO_TIME),
        lambda: store.turns.begin(stale),
    ]
    for write in refused:
        with pytest.raises(LeaseLost):
            await write()
    assert await store.turns.renew(stale) is False
    assert await store.everything() == before
    assert await store.turns.renew(lease)
    assert not await store.finish(lease, turn, "right")
    for write in refused:
        with pytest.raises(LeaseLost):
            await write()
    assert await store.db.outbound.column("text") == ["right"]


async def test_what_is_left_over_of_an_ended_turn_writes_nothing_into_it(store: Store) -> None:
    await store.say("one")
    lease, turn = await store.claim_turn()
    await store.say("two")
    assert await store.finish(lease, turn, "hi")
    assert await store.turns.begin(lease)
    with pytest.raises(LeaseLost):
        await turn.request.work.journal.write(step(0))


async def test_a_lease_that_ran_out_but_that_nobody_took_may_be_renewed(store: Store) -> None:
    await store.say("hello")
    lease, turn = await store.claim_turn()
    await store.expire()
    assert await store.turns.renew(lease)
    assert await store.turns.claim(None, "w2") is None
    assert not await store.finish(lease, turn, "hi")


async def test_a_clean_hand_back_burns_no_attempt_and_waits_its_delay(store: Store) -> None:
    await store.say("hello")
    for _ in range(6):  # as many as rolling deploys
        lease, turn = await store.claim_turn()
        assert turn.attempts == 1
        await store.turns.leave(lease, NO_TIME)
        assert not await store.turns.renew(lease)
    lease, turn = await store.claim_turn()
    await store.turns.leave(lease, timedelta(hours=1))
    assert await store.turns.claim(None, "w") is None
    await store.admin.execute("update lanes set not_before = clock_timestamp()")
    assert (await store.claim_turn())[1].attempts == 1


async def test_a_lane_handed_back_before_its_turn_began_is_free_at_once(store: Store) -> None:
    await store.say("hello")
    lease = await store.turns.claim(None, "w1")
    assert lease is not None
    await store.turns.leave(lease, NO_TIME)
    assert (await store.claim_turn("w2"))[1].attempts == 1


async def test_the_journal_keeps_a_steps_first_end_and_never_reopens_it(store: Store) -> None:
    await store.say("pay")
    _, turn = await store.claim_turn()
    journal = turn.request.work.journal
    started, done = step(0, StepState.STARTED, text=""), step(0, text="paid", duration_ms=5)
    for record in (started, started, done, step(0, text="paid twice"), started):
        await journal.write(record)
    assert list(await journal.recorded()) == [done]


async def test_promise_5_what_may_wait_is_kept_with_the_next_write_or_the_end(twice: Store) -> None:
    await twice.say("look, and pay")
    lease, turn = await twice.claim_turn()
    journal, kept = turn.request.work.journal, "select name from steps order by started_at"
    looked, paid, looked_again = waits(0, "look"), step(1), waits(2, "look again")
    await journal.write(looked)
    assert (list(await journal.recorded()), await twice.db.steps.count()) == ([looked], 0)
    await journal.write(paid)
    assert list(await journal.recorded()) == [looked, paid]
    assert [row["name"] for row in await twice.admin.fetch(kept)] == ["look", "pay"], "in the order of the calls"
    await journal.write(looked_again)
    assert not await twice.finish(lease, turn, "done")
    assert not await twice.finish(lease, turn, "done"), "a repeat changes nothing"
    assert [row["name"] for row in await twice.admin.fetch(kept)] == ["look", "pay", "look again"]
    assert isinstance(twice.database, TwiceDatabase)
    assert twice.database.differing == []


async def test_a_turn_that_asks_for_news_keeps_what_waits(store: Store) -> None:
    await store.say("look")
    _, turn = await store.claim_turn()
    journal, control = turn.request.work.journal, turn.request.work.control
    assert isinstance(journal, PostgresJournal)
    assert control is not None
    await journal.write(waits(0, "look"))
    journal.news = None  # old by now
    await store.say("", command="stop")
    await store.say("and more")
    assert await control.stopped() is not None
    assert (await store.db.steps.column("name"), journal.waiting()) == (["look"], [])


async def test_an_unknown_outcome_is_visible_to_later_turns_until_a_success(store: Store) -> None:
    async def one_turn(number: int, outcome: Outcome) -> bool:
        await store.say("pay")
        lease, turn = await store.claim_turn()
        await turn.request.work.journal.write(step(number, outcome=outcome))
        unknown = await turn.request.work.journal.outcome_unknown("pay", "h")
        assert not await turn.request.work.journal.outcome_unknown("pay", "other")
        await store.finish(lease, turn)
        return unknown

    outcomes = [Outcome.ERROR, Outcome.UNKNOWN, Outcome.REFUSED, Outcome.OK, Outcome.UNKNOWN]
    assert [await one_turn(n, outcome) for n, outcome in enumerate(outcomes)] == [False, True, True, False, True]
    await store.say("pay", sender="+15550000002")
    _, other = await store.claim_turn()
    assert not await other.request.work.journal.outcome_unknown("pay", "h")


async def test_odd_text_in_journal_and_replies_is_stored_without_invalid_bytes(store: Store) -> None:
    await store.say("hi")
    lease, turn = await store.claim_turn()
    await turn.request.work.journal.write(step(0, text="a\x00b\ud800"))
    [kept] = await turn.request.work.journal.recorded()
    assert kept.result == {"text": "ab�"}
    await store.finish(lease, turn, "c\x00d\udfff")
    assert await store.db.outbound.column("text") == ["cd�"]


async def test_promise_1_no_message_is_stranded_when_it_comes_as_a_turn_ends(store: Store) -> None:
    total, done, chance = 150, asyncio.Event(), random.Random(1)

    async def write() -> None:
        for n in range(total):
            await store.say(f"{n}")
            if n % 10 == 0:
                await asyncio.sleep(chance.random() * 0.01)
        done.set()

    async def work() -> None:
        while not done.is_set() or await store.one("select count(*) from inbound where state <> 'done'"):
            lease = await store.turns.claim(None, "w")
            if lease is None:
                # The truth of the slow poll: whatever waits can be claimed, or somebody holds it.
                await asyncio.sleep(0)
                continue
            more = True
            while more and (turn := await store.turns.begin(lease)):
                more = await store.finish(lease, turn, "hi")

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(write(), work())
    assert await store.db.inbound.column("text", order="seq") == [f"{n}" for n in range(total)]
    assert await store.one("select count(*) from lanes where pending or owner is not null") == 0
    turns = await store.admin.fetch(
        "select t.id, min(i.seq) as first, max(i.seq) as last from turns t join inbound i on i.turn_id = t.id"
        " group by t.id, t.started_at order by t.started_at"
    )
    # In order: each turn's messages come right after those of the turn before it.
    assert [t["first"] for t in turns] == [1, *(t["last"] + 1 for t in turns[:-1])]


async def test_promise_4_replies_are_numbered_in_the_order_of_their_turns(store: Store) -> None:
    for n in range(4):
        await store.enqueue(f"{n} a", f"{n} b")
    assert [tuple(r) for r in await store.admin.fetch("select seq, text from outbound order by seq")] == [
        (1 + 2 * n + k, f"{n} {'ab'[k]}") for n in range(4) for k in range(2)
    ]


async def test_repeating_every_statement_changes_nothing(twice: Store) -> None:
    for text, command in [("one", ""), ("two", ""), ("", "new"), ("three", "")]:
        await twice.say(text, command=command)
    assert await twice.db.conversations.one("in_seq") == 4
    lease, turn = await twice.claim_turn()
    assert lease.fence == 1
    await twice.turns.leave(lease, NO_TIME)
    lease, turn = await twice.claim_turn()
    assert (lease.fence, turn.attempts) == (2, 1)
    await turn.request.work.journal.write(step(0, StepState.STARTED))
    await turn.request.work.journal.write(step(0))
    assert await twice.turns.renew(lease)
    assert await twice.finish(lease, turn, "a", "b")
    new = await twice.turns.begin(lease)
    assert new is not None
    assert await twice.finish(lease, new, "fresh", new_session=True)
    last = await twice.turns.begin(lease)
    assert last is not None
    assert [m.text for m in last.request.inbound] == ["three"]
    assert not await twice.finish(lease, last, "c")
    assert await twice.turns.begin(lease) is None
    assert await twice.db.outbound.column("text", order="seq") == ["a", "b", "fresh", "c"]
    assert await twice.db.history.column("session", order="position") == [1, 1, 1, 1, 1, 1, 2, 2]
    rows = await twice.admin.fetch("select state, attempts from turns order by started_at")
    assert [tuple(r) for r in rows] == [("done", 1)] * 3
    assert await twice.db.conversations.one("session") == 2
    assert isinstance(twice.database, TwiceDatabase)
    assert twice.database.differing == []


async def test_a_finish_repeated_after_the_next_message_came_says_what_it_said(store: Store) -> None:
    await store.say("one")
    lease, turn = await store.claim_turn()
    answer = OutboundMessage("out_x", OutboundKind.REPLY, "hi")
    end = TurnEnd(TurnState.DONE, history=[ChatMessage(Role.ASSISTANT, "hi")], outbound=[answer])
    assert await store.turns.finish(lease, turn.turn_id, end, (), None) == (False, None)
    await store.say("two")
    assert await store.turns.finish(lease, turn.turn_id, end, (), None) == (False, None)
    # Somebody else takes it, and the repeat of the first holder is refused.
    await store.claim_turn("w2")
    assert await store.db.outbound.count() == 1


async def test_claims_of_many_workers_over_many_lanes_never_meet(store: Store) -> None:
    people = [f"+1555000{n:04d}" for n in range(20)]
    for sender in people:
        await store.say("hi", sender=sender)
    ran: list[tuple[Lease, BegunTurn]] = []

    async def work(name: str) -> None:
        while lease := await store.turns.claim(None, name):
            turn = await store.turns.begin(lease)
            assert turn is not None
            ran.append((lease, turn))
            await asyncio.sleep(0)
            await store.finish(lease, turn, "hi")

    while await store.one("select count(*) from inbound where state <> 'done'"):
        await asyncio.gather(*(work(f"w{n}") for n in range(6)))
    assert len(ran) == len({lease.lane_id for lease, _ in ran}) == 20
    assert all(lease.fence == 1 for lease, _ in ran)


async def test_a_journal_belongs_to_its_tenant(store: Store) -> None:
    await store.say("pay")
    lease, turn = await store.claim_turn()
    await turn.request.work.journal.write(step(0))
    other = Lease("tn_other", lease.lane_id, lease.fence, lease.owner)
    assert await PostgresJournal(store.database, other, turn.turn_id).recorded() == []
    with pytest.raises(LeaseLost):
        await PostgresJournal(store.database, other, turn.turn_id).write(step(1))


async def test_a_claim_whose_answer_was_lost_is_ours_at_the_next_asking(database_url: str) -> None:
    database = DumbDatabase(database_url)
    async with opened(database_url, database) as store:
        await store.enqueue("hi")
        await store.say("next")
        turns, outbox = store.turns, store.outbox
        claims: tuple[Callable[[], Awaitable[Lease | Claim | None]], ...] = (
            lambda: turns.claim(None, "w1"),
            lambda: outbox.claim(None, "w1"),
        )
        for claim in claims:
            database.losing = 1
            with pytest.raises(StoreUnavailable):
                await claim()
        # Its lease keeps others away.
        assert await store.turns.claim(None, "w2") is None
        assert await store.outbox.claim(None, "w2") is None
        for claim in claims:
            claimed = await claim()
            assert claimed is not None
            assert claimed.fence in (1, 2)
            assert await claim() is None
