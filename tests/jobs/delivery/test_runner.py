"""Delivery: in order, part by part, and never twice blindly (promises 4, 7, 8)."""

import asyncio
import random
from datetime import timedelta

import pytest

from core.errors import Ambiguous, OptedOut, RateLimited, Rejected, Unavailable, Unreachable
from core.messaging.channels import Target
from core.messaging.messages import DeliveryStatus, StatusUpdate
from core.replies import MISSING
from jobs import reports
from jobs.delivery import provider_calls
from jobs.delivery.lost_answers import MAX_RESENT
from jobs.delivery.runner import DeliveryRunner
from tests.core.harness import ACCOUNT, CHANNEL, Store
from tests.jobs.harness import Act, RecordingChannel

ANN = "+15550000001"


@pytest.fixture
def channel() -> RecordingChannel:
    return RecordingChannel()


def runner(store: Store, channel: RecordingChannel, name: str = "d1") -> DeliveryRunner:
    return DeliveryRunner(store.outbox, {"sms": channel}, name, random.Random(1))


async def deliver(store: Store, channel: RecordingChannel, name: str = "d1") -> None:
    """Send what is due now."""
    sender = runner(store, channel, name)
    while claim := await sender.claim(None):
        await sender.run(claim)


async def later(store: Store, channel: RecordingChannel, passed: str = "6 seconds") -> None:
    """Let time pass, then send what is due."""
    await store.admin.execute("update deliveries set started_at = started_at - $1::text::interval", passed)
    await store.make_due()
    await deliver(store, channel, "d2")


async def states(store: Store) -> list[object]:
    return await store.db.outbound.column("state", order="seq")


async def test_promise_4_one_claim_sends_a_conversations_rows_and_parts_in_order(
    store: Store, channel: RecordingChannel
) -> None:
    await store.enqueue("1a|1b|1c", "2", "3a|3b")
    sender = runner(store, channel)
    claim = await sender.claim(None)
    assert claim is not None
    await sender.run(claim)
    assert channel.texts == ["1a", "1b", "1c", "2", "3a", "3b"]
    assert await states(store) == ["sent"] * 3
    assert len({ref for ref, _ in channel.calls}) == 6
    assert await store.one("select last_out_at is not null from channel_state")


async def test_the_attempt_is_committed_before_the_call_leaves(store: Store, channel: RecordingChannel) -> None:
    seen: list[object] = []

    async def look(to: Target) -> None:
        query = "select d.outcome from deliveries d join outbound_parts p using (outbound_id, part) where p.ref = $1"
        seen.append(await store.one(query, to.ref))

    channel.acts.append(look)
    await store.enqueue("hi")
    await deliver(store, channel)
    assert seen == ["started"]


async def test_i10_nothing_leaves_before_retry_after_and_then_the_same_part_does(
    store: Store, channel: RecordingChannel
) -> None:
    channel.acts.append(RateLimited("busy", "20429", timedelta(seconds=30)))
    await store.enqueue("a|b", "next")
    await deliver(store, channel)
    assert channel.texts == ["a"]
    assert await store.one("select next_attempt_at >= clock_timestamp() + interval '29 s' from outbound where seq = 1")
    assert await states(store) == ["ready", "ready"]
    await later(store, channel)
    assert channel.texts == ["a", "a", "b", "next"]
    assert channel.calls[0] == channel.calls[1]


async def test_pauses_grow_while_the_provider_is_away(store: Store, channel: RecordingChannel) -> None:
    await store.enqueue("hi")
    pauses = []
    for _ in range(5):
        channel.acts.append(Unavailable("503"))
        await store.make_due()
        await deliver(store, channel)
        pauses.append(float(str(await store.one(
            "select extract(epoch from next_attempt_at - clock_timestamp()) from outbound"
        ))))  # fmt: skip
    assert all(later > earlier for earlier, later in zip(pauses, pauses[2:], strict=False))
    assert await store.db.outbound.one("attempts") == 5


@pytest.mark.parametrize(
    ("error", "identity"),
    [
        (Rejected("too long", "21617"), "active"),
        (Unreachable("gone"), "blocked"),
        (OptedOut("stop", "21610"), "stopped"),
    ],
)
async def test_promise_8_a_final_refusal_is_never_repeated_and_stays_visible(
    store: Store, channel: RecordingChannel, error: Exception, identity: str
) -> None:
    channel.acts.append(error)
    await store.enqueue("one", "two")
    await deliver(store, channel)
    await later(store, channel)
    reachable = identity == "active"
    assert channel.texts == (["one", "two"] if reachable else ["one"])
    assert await states(store) == ["failed", "sent" if reachable else "failed"]
    assert str(error) in str(await store.db.outbound.one("reason", seq=1))
    assert await store.db.identities.column("state") == [identity]


async def test_promise_8_nothing_leaves_to_a_person_who_said_stop(store: Store, channel: RecordingChannel) -> None:
    await store.enqueue("hi")
    await store.reach(ANN, False, "k")
    await deliver(store, channel)
    assert channel.calls == []
    assert await store.db.outbound.column("reason") == [reports.UNREACHABLE]


async def test_promise_8_a_stop_in_the_middle_keeps_the_other_parts(store: Store, channel: RecordingChannel) -> None:
    channel.acts.append(lambda to: store.reach(ANN, False, "k"))
    await store.enqueue("a|b", "c")
    await deliver(store, channel)
    assert channel.texts == ["a"]
    assert await states(store) == ["failed", "failed"]


@pytest.mark.parametrize("taken", [True, False])
async def test_promise_7_a_lost_answer_is_looked_up_before_anything_is_sent(
    store: Store, channel: RecordingChannel, taken: bool
) -> None:
    channel.taken_although_lost = taken
    channel.acts.append(Ambiguous("reset"))
    await store.enqueue("a|b", "next")
    await deliver(store, channel)
    assert channel.texts == ["a"]
    assert await states(store) == ["checking", "ready"]
    await deliver(store, channel)
    assert channel.looked_up == []  # the provider's list needs its time
    await later(store, channel)
    assert channel.texts == (["a", "b", "next"] if taken else ["a", "a", "b", "next"])
    assert len(channel.looked_up) == 1
    assert await states(store) == ["sent", "sent"]
    assert await store.db.outbound.one("ambiguities", seq=1) == 1
    assert len(set(channel.arrived)) == 3


async def test_promise_7_an_answer_that_does_not_come_in_time_is_lost(
    store: Store, channel: RecordingChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider_calls, "SEND_TIMEOUT", 0.05)
    channel.acts.append("hang")
    await store.enqueue("hi")
    await deliver(store, channel)
    assert await states(store) == ["checking"]


async def test_promise_7_a_bug_in_the_adapter_counts_as_a_lost_answer(store: Store, channel: RecordingChannel) -> None:
    channel.acts.append(KeyError("sid"))
    await store.enqueue("hi")
    await deliver(store, channel)
    assert await states(store) == ["checking"]


async def test_promise_4_an_unknown_outcome_blocks_for_a_bounded_time(store: Store, channel: RecordingChannel) -> None:
    channel.acts.append(Ambiguous("reset"))
    channel.look_ups_fail = True
    await store.enqueue("a", "next")
    await deliver(store, channel)
    for _ in range(3):
        await later(store, channel)
        assert await states(store) == ["checking", "ready"]
    await store.admin.execute("update outbound set unknown_since = unknown_since - interval '2 minutes'")
    await later(store, channel, "2 minutes")
    assert await states(store) == ["checking", "sent"]
    await later(store, channel, "25 hours")
    assert await states(store) == ["ambiguous", "sent"]
    assert channel.texts == ["a", "next"]
    row = await store.database.call("select * from count_work()")
    assert row is not None
    assert row["ambiguous"] == 1


@pytest.mark.parametrize("resend", [True, False])
async def test_promise_7_without_lookup_the_stated_policy_decides_a_few_times(
    store: Store, channel: RecordingChannel, resend: bool
) -> None:
    channel.can_find, channel.resend_unknown = False, resend
    calls = 1 + MAX_RESENT if resend else 1
    channel.acts.extend([Ambiguous("reset")] * calls)
    await store.enqueue("a", "next")
    await deliver(store, channel)
    for _ in range(6):
        await later(store, channel)
    assert channel.texts == ["a"] * calls + [f"next\n\n{MISSING}"]
    assert await states(store) == ["ambiguous", "sent"]
    assert await store.db.outbound.one("ambiguities", seq=1) == calls
    assert channel.looked_up == []


async def test_the_look_up_begins_with_the_first_call_whose_answer_was_lost(
    store: Store, channel: RecordingChannel
) -> None:
    channel.acts.extend([Unavailable("503"), Ambiguous("reset"), Ambiguous("reset")])
    await store.enqueue("a")
    await deliver(store, channel)
    for _ in range(3):
        await later(store, channel, "1 minute")
    calls = await store.admin.fetch("select outcome, started_at from deliveries order by attempt")
    assert [call["outcome"] for call in calls] == ["retry", "ambiguous", "ambiguous", "accepted"]
    assert channel.looked_up[-1][1] == calls[1]["started_at"]


@pytest.mark.parametrize("taken", [True, False])
async def test_promise_7_a_sender_killed_in_its_call_is_an_unknown_outcome(
    store: Store, channel: RecordingChannel, taken: bool
) -> None:
    channel.taken_although_lost = taken
    channel.acts.append("hang")
    await store.enqueue("a", "next")
    sender = runner(store, channel)
    claim = await sender.claim(None)
    assert claim is not None
    killed = asyncio.create_task(sender.run(claim))
    await channel.called.wait()
    killed.cancel()
    await asyncio.wait([killed])
    await deliver(store, channel)
    assert channel.texts == ["a"]  # its lease keeps others away
    await store.expire()
    await deliver(store, channel)
    assert channel.texts == ["a"]  # too fresh for the provider's list
    await later(store, channel)
    assert channel.texts == (["a", "next"] if taken else ["a", "a", "next"])
    assert await store.db.outbound.one("ambiguities", seq=1) == 1


async def test_promise_7_a_callback_before_the_lost_answer_needs_no_lookup(
    store: Store, channel: RecordingChannel
) -> None:
    async def call_back(to: Target) -> None:
        await store.inbox.accept(StatusUpdate(CHANNEL, ACCOUNT, "SM0", to.ref, DeliveryStatus.SENT))
        raise Ambiguous("reset")

    channel.acts.append(call_back)
    await store.enqueue("a|b", "next")
    await deliver(store, channel)
    assert channel.texts == ["a", "b", "next"]
    assert channel.looked_up == []
    assert await states(store) == ["sent", "sent"]


async def test_a_dead_senders_part_resolved_by_callback_does_not_block(store: Store, channel: RecordingChannel) -> None:
    await store.enqueue("a", "next")
    claim = await store.claim_sending("a")
    await store.outbox.begin_delivery(claim, 1, 1)
    ref = str(await store.db.outbound_parts.one("ref"))
    await store.inbox.accept(StatusUpdate(CHANNEL, ACCOUNT, "SM0", ref, DeliveryStatus.SENT))
    await store.expire()
    await deliver(store, channel)
    assert channel.texts == ["next"]
    assert await states(store) == ["sent", "sent"]


async def test_a_stop_gives_the_row_back_between_parts(store: Store, channel: RecordingChannel) -> None:
    sender = runner(store, channel)
    channel.acts.append(lambda to: sender.stop())
    await store.enqueue("a|b", "next")
    claim = await sender.claim(None)
    assert claim is not None
    await sender.run(claim)
    assert channel.texts == ["a"]
    assert await store.db.outbound.column("owner") == [None, None]
    await deliver(store, channel, "d2")
    assert channel.texts == ["a", "b", "next"]


async def test_what_breaks_the_renderer_fails_and_holds_nothing_back(store: Store, channel: RecordingChannel) -> None:
    await store.enqueue("|", "next")
    await deliver(store, channel)
    assert channel.texts == [f"next\n\n{MISSING}"]
    assert await states(store) == ["failed", "sent"]


async def test_a_channel_that_is_switched_off_fails_with_its_reason(store: Store) -> None:
    await store.enqueue("hi")
    sender = DeliveryRunner(store.outbox, {}, "d")
    claim = await sender.claim(None)
    assert claim is not None
    await sender.run(claim)
    assert await store.db.outbound.column("reason") == ["the channel is not configured"]


async def test_many_senders_send_each_part_once_and_in_order(store: Store, channel: RecordingChannel) -> None:
    chance = random.Random(3)
    people = [f"+1555000{n:04d}" for n in range(6)]
    for sender in people:
        await store.enqueue("1|2", "3", "4|5", sender=sender)
    fates: list[Act] = [lambda to: None, Unavailable("503"), Ambiguous("reset")]
    channel.acts.extend(chance.choice(fates) for _ in range(40))
    while await store.one("select count(*) from outbound where state <> 'sent'"):
        await store.admin.execute("update deliveries set started_at = started_at - interval '6 s'")
        await store.make_due()
        await asyncio.gather(*(deliver(store, channel, f"d{n}") for n in range(4)))
    rows = await store.admin.fetch(
        "select c.peer, p.text, p.ref from outbound_parts p join outbound o on o.id = p.outbound_id"
        " join conversations c on c.id = o.conversation_id"
    )
    of = {row["ref"]: row["peer"] for row in rows}
    arrived = {peer: [text for ref, text in _accepted(channel) if of[ref] == peer] for peer in people}
    assert arrived == {peer: ["1", "2", "3", "4", "5"] for peer in people}


def _accepted(channel: RecordingChannel) -> list[tuple[str, str]]:
    """Return what the provider took, in its order, each once."""
    texts = dict(channel.calls)
    return [(ref, texts[ref]) for ref in channel.arrived]
