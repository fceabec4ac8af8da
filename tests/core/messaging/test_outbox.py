"""The outbox: one open row a conversation, in order, each call committed before it leaves (promises 4, 7, 8)."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta

import pytest

from core.errors import LeaseLost
from core.messaging.calls import Begun, PartEnd
from core.messaging.channels import Part, Receipt
from core.messaging.messages import (
    Action,
    ActionStyle,
    DeliveryStatus,
    Media,
    OutboundKind,
    OutboundMessage,
    Sentence,
    StatusUpdate,
)
from core.messaging.states import CallOutcome, IdentityState, SendState
from tests.core.harness import ACCOUNT, CHANNEL, LEASE, Store, TwiceDatabase, sent

ANN, BOB = "+15550000001", "+15550000002"
AMBIGUOUS = PartEnd(SendState.CHECKING, CallOutcome.AMBIGUOUS, reason="no answer", delay=timedelta(hours=1))


async def told(store: Store, status: DeliveryStatus, *, ref: str = "", sid: str = "", code: str = "") -> bool:
    """Take in a status callback; True when it was about a part of ours."""
    update = StatusUpdate(CHANNEL, ACCOUNT, sid, ref, status, code)
    return not (await store.inbox.accept(update)).duplicate


async def states(store: Store) -> list[object]:
    return await store.db.outbound.column("state", order="seq")


async def ref_of(store: Store, part: int = 1) -> str:
    return str(await store.db.outbound_parts.one("ref", part=part))


async def test_promise_4_rows_leave_one_by_one_in_order_of_seq(store: Store) -> None:
    await store.enqueue("one", "two", "three")
    await store.enqueue("other", sender=BOB)
    claims = [await store.outbox.claim(None, f"s{n}") for n in range(4)]
    heads = [c for c in claims if c]
    assert len(heads) == 2
    assert len({c.conversation_id for c in heads}) == 2
    order = []
    for _ in range(4):
        for claim in heads:
            due = await store.outbox.load(claim)
            order.append(due.message.text)
            await store.outbox.keep_parts(claim, [Part(due.message.text)])
            assert await store.send(claim) == "sent"
        heads = [c for c in [await store.outbox.claim(None, "s")] if c]
    assert [text for text in order if text != "other"] == ["one", "two", "three"]
    assert await states(store) == ["sent"] * 4


async def test_promise_4_what_waits_for_its_retry_holds_back_what_comes_after_it(store: Store) -> None:
    await store.enqueue("one", "two")
    claim = await store.claim_sending("one")
    retry = PartEnd(SendState.READY, CallOutcome.RETRY, delay=timedelta(hours=1))
    assert await store.send(claim, end=retry) == "ready"
    assert await store.outbox.claim(None, "s") is None
    assert await store.outbox.claim(claim.conversation_id, "s") is None
    await store.make_due()
    again = await store.claim_sending("one")
    assert again.outbound_id == claim.outbound_id
    assert await store.send(again, attempt=2) == "sent"
    following = await store.outbox.claim(claim.conversation_id, "s")
    assert following is not None
    assert following.outbound_id != claim.outbound_id


async def test_promise_4_a_held_row_takes_its_place_when_it_is_released(
    store: Store,
) -> None:
    await store.enqueue("one")
    tenant, conversation = (await store.admin.fetch("select tenant_id, id from conversations"))[0]
    held = OutboundMessage("out_held", OutboundKind.CARD, "held")
    later = OutboundMessage("out_later", OutboundKind.NOTIFICATION, "later")
    for _ in range(2):  # an error does not mean "not committed": both may be repeated
        await store.enqueue_in(tenant, conversation, [held], held=True)
        await store.enqueue_in(tenant, conversation, [later])
    claim = await store.claim_sending("one")
    await store.send(claim)
    claim = await store.claim_sending("later")
    assert claim.outbound_id == "out_later"
    await store.send(claim)
    assert await store.outbox.claim(None, "s") is None
    assert await store.release(tenant, "out_held")
    assert not await store.release(tenant, "out_held")
    claim = await store.claim_sending("held")
    assert claim.outbound_id == "out_held"
    assert await store.db.outbound.column("seq", order="seq") == [1, 2, 3]


async def test_many_senders_at_once_never_hold_the_same_conversation(store: Store) -> None:
    people = [f"+1555000{n:04d}" for n in range(8)]
    for sender in people:
        await store.enqueue("a", "b", "c", sender=sender)
    open_now: set[str] = set()
    order: dict[str, list[str]] = {}

    async def work(name: str) -> None:
        while claim := await store.outbox.claim(None, name):
            assert claim.conversation_id not in open_now
            open_now.add(claim.conversation_id)
            due = await store.outbox.load(claim)
            order.setdefault(claim.conversation_id, []).append(due.message.text)
            await store.outbox.keep_parts(claim, [Part("x")])
            await store.outbox.begin_delivery(claim, 1, 1)
            await asyncio.sleep(0)
            open_now.remove(claim.conversation_id)
            await store.outbox.end_delivery(claim, 1, 1, sent(claim.outbound_id))

    while await store.one("select count(*) from outbound where state <> 'sent'"):
        await asyncio.gather(*(work(f"s{n}") for n in range(8)))
    assert set(map(tuple, order.values())) == {("a", "b", "c")}
    assert len(order) == 8
    assert await store.db.deliveries.count() == 24


async def test_a_message_is_loaded_as_it_was_queued(store: Store) -> None:
    queued = OutboundMessage(
        "out_x",
        OutboundKind.CARD,
        "Pay?",
        (Action("Approve", "t1", ActionStyle.PRIMARY), Action("Cancel", "t2")),
        (Media("https://m", "image/png", "m.png", 12),),
    )
    await store.say("hello")
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn, outbound=[queued])
    claim = await store.outbox.claim(None, "s")
    assert claim is not None
    due = await store.outbox.load(claim)
    assert due.message == queued
    assert (due.address.channel, due.address.account, due.address.peer) == (CHANNEL, ACCOUNT, ANN)
    assert (due.reachable, due.attempts) == (True, 0)


async def test_parts_and_their_refs_stay_those_of_the_first_rendering(store: Store) -> None:
    await store.enqueue("long")
    claim = await store.outbox.claim(None, "s")
    assert claim is not None
    first = await store.outbox.keep_parts(claim, [Part("a", {"k": [1]}, 2), Part("b")])
    assert [(p.number, p.part, p.state, p.attempt, p.lost) for p in first] == [
        (1, Part("a", {"k": [1]}, 2), "ready", 0, 0),
        (2, Part("b"), "ready", 0, 0),
    ]
    await store.outbox.begin_delivery(claim, 1, 1)
    await store.expire()
    again = await store.outbox.claim(None, "s2")
    assert again is not None
    kept = await store.outbox.keep_parts(again, [Part("another rendering")])
    assert [(p.ref, p.part) for p in kept] == [(p.ref, p.part) for p in first]
    assert [(p.state, p.attempt, p.lost) for p in kept] == [("sending", 1, 1), ("ready", 0, 0)]
    assert kept[0].lost_since is not None


async def test_what_sentences_became_at_first_is_the_text_from_then_on(store: Store) -> None:
    await store.enqueue("one")
    await store.db.outbound.change({"text": "", "sentences": '[{"key": "edit", "values": {"n": 1}}]'})
    claim = await store.outbox.claim(None, "s")
    assert claim is not None
    due = await store.outbox.load(claim)
    assert (due.message.text, due.sentences) == ("", (Sentence("edit", {"n": 1}),))
    await store.outbox.keep_parts(claim, [Part("first words")], "first words")
    await store.outbox.keep_parts(claim, [Part("other words")], "other words")
    due = await store.outbox.load(replace(claim, row=None))
    assert (due.message.text, due.sentences) == ("first words", ())


async def test_promise_7_the_attempt_is_a_row_before_the_call_leaves(store: Store) -> None:
    await store.enqueue("one")
    claim = await store.claim_sending("one")
    assert await store.db.deliveries.column("outcome") == []
    assert await store.outbox.begin_delivery(claim, 1, 1) is Begun.GO
    row = await store.admin.fetchrow("select * from deliveries")
    assert row is not None
    assert (row["outcome"], row["finished_at"], row["attempt"], row["owner"]) == ("started", None, 1, claim.owner)
    assert await store.one("select lease_until > clock_timestamp() + $1 from outbound", LEASE * 0.9)


async def test_a_stale_sender_can_write_nothing(store: Store) -> None:
    await store.enqueue("one")
    stale = await store.claim_sending("one", worker="s1")
    await store.outbox.begin_delivery(stale, 1, 1)
    await store.expire()
    claim = await store.outbox.claim(None, "s2")
    assert claim is not None
    before = await store.everything()
    for write in (
        lambda: store.outbox.begin_delivery(stale, 1, 2),
        lambda: store.outbox.end_delivery(stale, 1, 1, sent("SM1")),
        lambda: store.outbox.keep_parts(stale, [Part("x")]),
        lambda: store.outbox.fail(stale, "x"),
        lambda: store.outbox.settle(stale),
        lambda: store.outbox.give_back(stale),
    ):
        with pytest.raises(LeaseLost):
            await write()
    assert await store.everything() == before


async def test_a_callback_with_our_ref_before_the_call_ends_is_never_undone(store: Store) -> None:
    await store.enqueue("one")
    claim = await store.claim_sending("one")
    await store.outbox.begin_delivery(claim, 1, 1)
    assert await told(store, DeliveryStatus.DELIVERED, ref=await ref_of(store), sid="SM1")
    # The call then times out: the callback has already proved that it arrived.
    assert await store.outbox.end_delivery(claim, 1, 1, AMBIGUOUS) == "sent"
    row = await store.admin.fetchrow("select state, provider_id, status from outbound_parts")
    assert row is not None
    assert tuple(row) == ("sent", "SM1", "delivered")
    assert await store.outbox.claim(None, "s") is None


async def test_promise_7_a_callback_resolves_a_lost_answer_and_wakes_the_queue(store: Store) -> None:
    await store.enqueue("one", "two")
    claim = await store.claim_sending("one")
    assert await store.send(claim, end=AMBIGUOUS) == "checking"
    assert await store.outbox.claim(None, "s") is None
    assert await told(store, DeliveryStatus.SENT, ref=await ref_of(store), sid="SM1")
    assert store.wakeups.deliveries == [claim.conversation_id]
    assert await states(store) == ["sent", "ready"]
    assert await store.db.outbound.one("ambiguities", seq=1) == 1
    following = await store.outbox.claim(claim.conversation_id, "s")
    assert following is not None


async def test_a_callback_for_one_of_two_parts_lets_the_row_go_on_at_once(store: Store) -> None:
    await store.enqueue("long")
    claim = await store.claim_sending("a", "b")
    await store.send(claim, end=AMBIGUOUS)
    assert await told(store, DeliveryStatus.SENT, ref=await ref_of(store), sid="SM1")
    assert await states(store) == ["ready"]
    again = await store.claim_sending()
    assert await store.outbox.settle(again) == "sending"
    assert await store.send(again, part=2, attempt=2) == "sent"


async def test_a_callback_after_a_refusal_proves_that_it_was_taken_after_all(store: Store) -> None:
    await store.enqueue("one")
    claim = await store.claim_sending("one")
    await store.send(claim, end=PartEnd(SendState.READY, CallOutcome.RETRY, delay=timedelta(hours=1)))
    assert await told(store, DeliveryStatus.SENT, ref=await ref_of(store), sid="SM1")
    assert await states(store) == ["sent"]


async def test_a_callback_about_a_dead_senders_call_leaves_nothing_to_send(store: Store) -> None:
    await store.enqueue("one", "two")
    claim = await store.claim_sending("one")
    await store.outbox.begin_delivery(claim, 1, 1)
    assert await told(store, DeliveryStatus.SENT, ref=await ref_of(store), sid="SM1")
    await store.expire()
    again = await store.outbox.claim(None, "s2")
    assert again is not None
    assert again.outbound_id == claim.outbound_id
    assert await store.outbox.begin_delivery(again, 1, 2) is Begun.SENT
    assert await store.outbox.settle(again) == "sent"
    assert await store.db.deliveries.count() == 1
    assert await states(store) == ["sent", "ready"]


async def test_statuses_apply_by_rank_and_never_go_back(store: Store) -> None:
    await store.enqueue("one")
    await store.send(await store.claim_sending("one"))
    sid = str(await store.db.outbound_parts.one("provider_id"))
    seen = []
    for status in ("sent", "accepted", "delivered", "undelivered", "sent", "read", "delivered"):
        assert await told(store, DeliveryStatus(status), sid=sid, code="30003" if status == "undelivered" else "")
        seen.append(await store.db.outbound_parts.one("status"))
    assert seen == ["sent", "sent", "delivered", "delivered", "delivered", "read", "read"]
    assert await store.db.outbound_parts.one("error_code") == ""


async def test_a_callback_about_nothing_of_ours_changes_nothing(store: Store) -> None:
    await store.enqueue("one")
    await store.claim_sending("one")
    before = await store.everything()
    ref = await ref_of(store)
    assert not await told(store, DeliveryStatus.SENT, ref="part_unknown", sid="SM1")
    assert not await told(store, DeliveryStatus.SENT, sid="SM1")
    assert not await told(store, DeliveryStatus.SENT)
    stranger = StatusUpdate(CHANNEL, "+1another", "SM1", ref, DeliveryStatus.SENT)
    assert (await store.inbox.accept(stranger)).duplicate
    assert await store.everything() == before


@pytest.mark.parametrize("state", [IdentityState.OPTED_OUT, IdentityState.BLOCKED])
async def test_promise_8_a_final_refusal_marks_the_identity_and_keeps_the_row(
    store: Store, state: IdentityState
) -> None:
    await store.enqueue("one", "two")
    claim = await store.claim_sending("one")
    end = PartEnd(
        SendState.FAILED, CallOutcome.REJECTED, error_code="21610", reason="OptedOut: x", identity_state=state
    )
    assert await store.send(claim, end=end) == "failed"
    assert await store.db.identities.column("state") == [state]
    row = await store.admin.fetchrow("select state, reason, owner, attempts from outbound where seq = 1")
    assert row is not None
    assert tuple(row) == ("failed", "OptedOut: x", None, 1)
    following = await store.outbox.claim(claim.conversation_id, "s")
    if state == "blocked":
        assert following is not None
        assert not (await store.outbox.load(following)).reachable
        await store.outbox.fail(following, "blocked")
    else:
        # What was ready when the STOP came is ended with it, so that no later START lets it leave.
        assert following is None
    work = await store.database.call("select * from count_work()")
    assert work is not None
    assert (work["failed"], work["open_outbound"]) == (2, 0)


async def test_promise_8_a_stop_between_parts_keeps_the_rest_from_leaving(store: Store) -> None:
    await store.enqueue("long")
    claim = await store.claim_sending("a", "b")
    assert await store.send(claim) == "sending"
    await store.reach(ANN, False, "k")
    assert await store.outbox.begin_delivery(claim, 2, 2) is Begun.UNREACHABLE
    assert await store.db.deliveries.count() == 1


async def test_a_part_left_ambiguous_lets_the_rest_go_on_and_stays_counted(store: Store) -> None:
    await store.enqueue("long", "next")
    claim = await store.claim_sending("a", "b")
    assert (
        await store.send(claim, end=PartEnd(SendState.AMBIGUOUS, CallOutcome.AMBIGUOUS, reason="unknown")) == "sending"
    )
    assert await store.send(claim, part=2, attempt=2) == "ambiguous"
    row = await store.admin.fetchrow("select state, reason, ambiguities from outbound where seq = 1")
    assert row is not None
    assert tuple(row) == ("ambiguous", "unknown", 1)
    assert await store.outbox.claim(None, "s") is not None
    # A later callback still tells the truth.
    assert await told(store, DeliveryStatus.DELIVERED, ref=await ref_of(store), sid="SM1")
    assert (await states(store))[0] == "sent"


async def test_a_row_given_back_between_parts_goes_on_elsewhere_at_once(store: Store) -> None:
    await store.enqueue("long")
    claim = await store.claim_sending("a", "b")
    await store.send(claim)
    await store.outbox.give_back(claim)
    assert await states(store) == ["ready"]
    again = await store.claim_sending("ignored")
    assert [p.state for p in await store.outbox.parts(again)] == ["sent", "ready"]
    assert await store.send(again, part=2, attempt=2) == "sent"


async def test_a_moved_chat_is_written_to_at_its_new_address(store: Store) -> None:
    await store.enqueue("one", "two")
    claim = await store.claim_sending("one")
    await store.send(
        claim, end=PartEnd(SendState.SENT, CallOutcome.ACCEPTED, Receipt("SM1", moved_to="+1999", degraded=True))
    )
    following = await store.outbox.claim(None, "s")
    assert following is not None
    assert (await store.outbox.load(following)).address.peer == "+1999"
    assert await store.db.outbound_parts.one("degraded")


async def test_a_repeated_claim_counts_a_dead_senders_attempt_as_ambiguous(store: Store) -> None:
    await store.enqueue("one")
    claim = await store.claim_sending("one")
    await store.outbox.begin_delivery(claim, 1, 1)
    await store.expire()
    again = await store.outbox.claim(None, "s2")
    assert again is not None
    assert await store.outbox.begin_delivery(again, 1, 2) is Begun.GO
    assert await store.db.deliveries.column("outcome", order="attempt") == ["ambiguous", "started"]
    assert await store.db.outbound.one("ambiguities") == 1


async def test_repeating_every_statement_changes_nothing(twice: Store) -> None:
    await twice.enqueue("long", "next", "lost")
    claim = await twice.claim_sending("a", "b", "c")
    assert claim.fence == 1
    assert await twice.send(claim, end=PartEnd(SendState.READY, CallOutcome.RETRY)) == "ready"
    again = await twice.claim_sending()
    assert again.fence == 2
    assert await twice.send(again, attempt=2) == "sending"
    assert (
        await twice.send(again, part=2, attempt=3, end=PartEnd(SendState.CHECKING, CallOutcome.AMBIGUOUS)) == "checking"
    )
    claimed = await twice.claim_sending()
    assert (
        await twice.outbox.end_delivery(claimed, 2, 3, PartEnd(SendState.SENT, CallOutcome.FOUND, Receipt("SM2")))
        == "sending"
    )
    await twice.outbox.give_back(claimed)
    last = await twice.claim_sending()
    assert await twice.send(last, part=3, attempt=4) == "sent"
    row = await twice.admin.fetchrow("select attempts, ambiguities, state, fence from outbound where seq = 1")
    assert row is not None
    assert tuple(row) == (4, 1, "sent", 4)
    rows = await twice.admin.fetch("select part, attempt, outcome from deliveries order by attempt")
    assert [tuple(r) for r in rows] == [(1, 1, "retry"), (1, 2, "accepted"), (2, 3, "found"), (3, 4, "accepted")]
    following = await twice.outbox.claim(None, "s")
    assert following is not None
    await twice.outbox.fail(following, "no")
    third = await twice.claim_sending("x")
    await twice.send(third, end=AMBIGUOUS)
    ref = str(await twice.db.outbound_parts.one("ref", outbound_id=third.outbound_id))
    await told(twice, DeliveryStatus.SENT, ref=ref, sid="SM9")
    assert await states(twice) == ["sent", "failed", "sent"]
    assert isinstance(twice.database, TwiceDatabase)
    # Only the callback tells its repeat apart: by then nothing was lost any more.
    # The ages of a row and of its calls grow from one reading to the next.
    ages = ("apply_status", "read_outbound", "read_parts", "keep_parts")
    assert [s for s in twice.database.differing if not any(name in s for name in ages)] == []


async def test_a_row_and_a_lane_that_many_claim_at_once_have_one_holder(store: Store) -> None:
    await store.say("hello")
    async with AsyncExitStack() as stack:  # connections to all
        for number in range(10):
            await stack.enter_async_context(store.database.tenant(f"t{number}"))
    for _ in range(15):
        leases = await asyncio.gather(*(store.turns.claim(None, f"w{n}") for n in range(10)))
        [lease] = [lease for lease in leases if lease]
        await store.turns.leave(lease, timedelta())
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn, "hi")
    for _ in range(15):
        claims = await asyncio.gather(*(store.outbox.claim(None, f"s{n}") for n in range(10)))
        [claim] = [claim for claim in claims if claim]
        await store.outbox.give_back(claim)
