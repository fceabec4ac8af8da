"""An outage costs no answer, holds nobody up for long, and what was given up is told (promises 4, 6, 7)."""

import random
from datetime import timedelta
from itertools import pairwise

import pytest

from core.errors import Ambiguous, RateLimited
from core.messaging.messages import OutboundKind, OutboundMessage
from core.replies import MISSING
from jobs.delivery.backoff import MAX_WAIT, RESEND_AFTER
from jobs.delivery.lost_answers import MAX_RESENT
from jobs.delivery.runner import DeliveryRunner
from operations.paths.trace import trace
from tests.core.harness import Store
from tests.jobs.delivery.test_runner import ANN, deliver, states
from tests.jobs.harness import RecordingChannel


@pytest.fixture
def blind() -> RecordingChannel:
    """A channel that cannot be asked what became of a send, as Telegram cannot."""
    return RecordingChannel(can_find=False, resend_unknown=True)


async def pass_time(store: Store, span: timedelta) -> None:
    """Let all that the database has noted be so much older."""
    for table, columns in (
        ("outbound", ("next_attempt_at", "unknown_since", "created_at")),
        ("deliveries", ("started_at", "finished_at")),
    ):
        changes = ", ".join(f"{column} = {column} - $1::interval" for column in columns)
        await store.admin.execute(f"update {table} set {changes}", span)  # noqa: S608


async def wait_and_deliver(store: Store, channel: RecordingChannel, span: timedelta) -> None:
    """Let time pass, then send what is due then."""
    await pass_time(store, span)
    await deliver(store, channel, "later")


async def give_up(store: Store, channel: RecordingChannel, *texts: str) -> None:
    """Owe texts whose first is tried in vain until it is given up."""
    channel.acts.extend([Ambiguous("reset")] * (1 + MAX_RESENT))
    await store.enqueue(*texts)
    for _ in range(3 + MAX_RESENT):
        await store.make_due()
        await deliver(store, channel)


async def test_promise_7_resends_of_an_unknown_outcome_are_spaced_over_minutes(
    store: Store, blind: RecordingChannel
) -> None:
    blind.acts.extend([Ambiguous("500")] * 20)
    await store.enqueue("a")
    await deliver(store, blind)
    passed = timedelta()
    called_at = [timedelta()]
    while await states(store) == ["checking"]:
        await wait_and_deliver(store, blind, timedelta(seconds=5))
        passed += timedelta(seconds=5)
        called_at += [passed] * (len(blind.calls) - len(called_at))
    pauses = [later - earlier for earlier, later in pairwise(called_at)]
    assert len(pauses) == MAX_RESENT
    for asked, pause in zip(RESEND_AFTER, pauses, strict=True):
        assert asked <= pause <= asked * 1.1 + timedelta(seconds=5)
    assert passed > timedelta(minutes=20)


async def test_an_outage_of_25_seconds_costs_a_blind_channel_no_answer(store: Store, blind: RecordingChannel) -> None:
    blind.acts.extend([Ambiguous("500")] * 2)  # at once, and after 10 seconds; at 70 it is well again
    await store.enqueue("a", "next")
    await deliver(store, blind)
    for _ in range(16):
        await wait_and_deliver(store, blind, timedelta(seconds=5))
    assert await states(store) == ["sent", "sent"]
    assert blind.texts == ["a", "a", "a", "next"]


async def test_promise_4_an_unknown_outcome_holds_the_rest_for_two_minutes(
    store: Store, blind: RecordingChannel
) -> None:
    blind.acts.extend([Ambiguous("timeout")] * 3)
    await store.enqueue("a", "b", "c")
    await deliver(store, blind)
    await wait_and_deliver(store, blind, timedelta(seconds=12))
    await wait_and_deliver(store, blind, timedelta(seconds=70))
    assert (blind.texts, await states(store)) == (["a"] * 3, ["checking", "ready", "ready"])
    await wait_and_deliver(store, blind, timedelta(seconds=40))
    assert blind.texts == ["a", "a", "a", "b", "c"]
    await wait_and_deliver(store, blind, timedelta(minutes=6))
    assert blind.texts[-1] == "a"
    assert await states(store) == ["sent"] * 3


async def test_promise_4_look_ups_that_cannot_tell_hold_nobody_up_for_hours(store: Store) -> None:
    channel = RecordingChannel(look_ups_fail=True)
    channel.acts.append(Ambiguous("timeout"))
    await store.enqueue("a", "next")
    await deliver(store, channel)
    for _ in range(40):
        await wait_and_deliver(store, channel, timedelta(minutes=5))
    assert (channel.texts, await states(store)) == (["a", "next"], ["checking", "sent"])
    assert len(channel.looked_up) <= 41
    channel.look_ups_fail = False
    await wait_and_deliver(store, channel, timedelta(minutes=6))
    assert (channel.texts, await states(store)) == (["a", "next", "a"], ["sent", "sent"])


async def test_promise_6_what_was_given_up_is_told_with_the_next_message_once(
    store: Store, blind: RecordingChannel
) -> None:
    await give_up(store, blind, "a", "b", "c")
    assert await states(store) == ["ambiguous", "sent", "sent"]
    assert blind.texts[-2:] == [f"b\n\n{MISSING}", "c"]
    [given_up] = await store.db.outbound.column("id", seq=1)
    [line] = [line for line in await trace(store.database, str(given_up)) if line.get("id") == given_up]
    assert line["given_up_at"]
    assert line["told_by"] == await store.db.outbound.one("id", seq=2)
    row = await store.database.call("select * from count_given_up(interval '7 days')")
    assert row is not None
    assert (row["given_up"], row["told"]) == (1, 1)


async def test_promise_6_a_lost_message_that_told_is_told_by_the_next(store: Store, blind: RecordingChannel) -> None:
    blind.acts.extend([Ambiguous("reset")] * 2 * (1 + MAX_RESENT))
    await store.enqueue("a", "b", "c")
    for _ in range(16):
        await store.make_due()
        await deliver(store, blind)
    assert await states(store) == ["ambiguous", "ambiguous", "sent"]
    assert blind.texts[-1] == f"c\n\n{MISSING}"


async def test_promise_9_a_card_shows_nothing_but_what_is_consented_to(store: Store, blind: RecordingChannel) -> None:
    await give_up(store, blind, "a")
    await store.say("more")
    lease, turn = await store.claim_turn()
    rows = [OutboundMessage(store.make_id("out"), kind, text) for kind, text in (
        (OutboundKind.CARD, "Send it?"), (OutboundKind.RECEIPT, "Done."))]  # fmt: skip
    await store.finish(lease, turn, outbound=rows)
    await deliver(store, blind)
    assert blind.texts[-2:] == ["Send it?", f"Done.\n\n{MISSING}"]


async def test_a_stop_is_confirmed_by_its_own_words_alone(store: Store, blind: RecordingChannel) -> None:
    await give_up(store, blind, "a")
    await store.reach(ANN, False, "k")
    person = await store.admin.fetchrow("select tenant_id, id from conversations")
    assert person is not None
    stop = {"id": "out_stop", "kind": "receipt", "text": "You are out.", "regardless": True}
    await store.database.call("select enqueue($1,$2,$3,$4)", person["tenant_id"], person["id"], None, [stop])
    await deliver(store, blind)
    assert blind.texts[-1] == "You are out."


async def test_a_rate_limit_of_a_day_is_tried_again_every_hour(store: Store) -> None:
    channel = RecordingChannel()
    channel.acts.append(RateLimited("busy", "429", timedelta(days=1)))
    await store.enqueue("a", "next")
    await deliver(store, channel)
    await wait_and_deliver(store, channel, MAX_WAIT - timedelta(minutes=1))
    assert channel.texts == ["a"]
    await wait_and_deliver(store, channel, timedelta(minutes=2))
    assert channel.texts == ["a", "a", "next"]


async def test_what_is_refused_for_a_whole_day_is_given_up_and_told(store: Store) -> None:
    channel = RecordingChannel()
    channel.acts.extend([RateLimited("busy", "429", timedelta(days=1))] * 30)
    await store.enqueue("a")
    runner = DeliveryRunner(store.outbox, {"sms": channel}, "d", random.Random(1))
    for _ in range(30):
        while claim := await runner.claim(None):
            await runner.run(claim)
        await pass_time(store, MAX_WAIT + timedelta(minutes=1))
    assert await states(store) == ["failed"]
    assert 20 <= len(channel.calls) <= 26
    channel.acts.clear()
    await store.enqueue("next")
    await deliver(store, channel)
    assert channel.texts[-1] == f"next\n\n{MISSING}"
