"""What workers tell the metrics of turns and deliveries."""

import random

import pytest
from structlog.testing import capture_logs

from core.errors import Ambiguous, Rejected, TurnDelayed, Unavailable
from core.llm.types import ChatMessage, Role, TokenUsage, ToolCall
from core.turns.types import TurnRequest, TurnResult, TurnState
from jobs.delivery.runner import DeliveryRunner
from tests.core.harness import Store
from tests.counted import Increase
from tests.jobs.harness import Act, RecordingChannel
from tests.jobs.worker_harness import WorkerHarness

TURNS, DELIVERIES = "onevalet_turn_seconds_count", "onevalet_delivery_seconds_count"


async def deliver(store: Store, channel: RecordingChannel) -> None:
    """Send what is due now."""
    sender = DeliveryRunner(store.outbox, {"sms": channel}, "d1", random.Random(1))
    while claim := await sender.claim(None):
        await sender.run(claim)


async def test_a_turn_is_counted_by_the_state_that_it_ended_in(store: Store) -> None:
    async def broken(request: TurnRequest) -> TurnResult:
        raise ValueError("internals")

    counts = Increase()
    await store.say("one")
    await WorkerHarness(store).run_turns()
    await store.say("two")
    await WorkerHarness(store).run_turns(broken)
    assert [counts.of(TURNS, state=state) for state in ("done", "failed")] == [1, 1]


async def test_a_turn_is_one_line_with_its_work_and_its_usage(store: Store) -> None:
    async def busy(request: TurnRequest) -> TurnResult:
        calls = (ToolCall("c1", "look_up", "{}"), ToolCall("c2", "look_up", "{}"))
        asked = ChatMessage(Role.ASSISTANT, tool_calls=calls)
        usage = TokenUsage(800, 80, 300, 0.002)
        return TurnResult(TurnState.DONE, "a secret", history=(asked,), usage=usage, turns=2)

    await store.say("one secret")
    with capture_logs() as logged:
        await WorkerHarness(store).run_turns(busy)
    (line,) = [line for line in logged if line["log_level"] != "debug"]
    assert line["duration_ms"] >= 0
    assert {name: value for name, value in line.items() if name not in ("turn", "duration_ms")} == {
        **{"event": "turn_finished", "log_level": "info", "attempt": 1, "state": "done", "reason": ""},
        **{"messages": 1, "model_calls": 2, "tool_calls": 2},
        **{"input_tokens": 800, "cached_tokens": 300, "output_tokens": 80, "cost": 0.002},
    }


async def test_a_turn_that_is_put_off_is_counted_as_delayed_and_not_as_ended(store: Store) -> None:
    async def later(request: TurnRequest) -> TurnResult:
        raise TurnDelayed("not now")

    counts = Increase()
    await store.say("one")
    await WorkerHarness(store).run_turns(later)
    assert counts.of("onevalet_turns_delayed_total", cause="check") == 1
    assert counts.of(TURNS, state="done") == 0


@pytest.mark.parametrize(
    ("act", "outcome"),
    [(Unavailable("away"), "retry"), (Ambiguous("lost"), "ambiguous"), (Rejected("21211"), "rejected")],
    ids=["retry", "ambiguous", "rejected"],
)
async def test_a_call_to_a_provider_is_counted_by_its_outcome(store: Store, act: Act, outcome: str) -> None:
    counts, channel = Increase(), RecordingChannel()
    channel.acts.append(act)
    await store.enqueue("hello")
    await deliver(store, channel)
    assert counts.of(DELIVERIES, channel="sms", outcome=outcome) == 1


async def test_a_part_that_is_sent_again_is_counted_as_a_retry(store: Store) -> None:
    counts, channel = Increase(), RecordingChannel()
    channel.acts.append(Unavailable("away"))
    await store.enqueue("hello")
    await deliver(store, channel)
    await store.make_due()
    await deliver(store, channel)
    assert counts.of(DELIVERIES, channel="sms", outcome="accepted") == 1
    assert counts.of("onevalet_delivery_retries_total", channel="sms") == 1


async def test_the_further_parts_of_a_message_are_no_retries(store: Store) -> None:
    counts, channel = Increase(), RecordingChannel()
    await store.enqueue("one|two|three")
    await deliver(store, channel)
    assert counts.of(DELIVERIES, channel="sms", outcome="accepted") == 3
    assert counts.of("onevalet_delivery_retries_total", channel="sms") == 0


async def test_a_look_up_is_counted_by_what_it_found(store: Store) -> None:
    counts, channel = Increase(), RecordingChannel()
    channel.acts.append(Ambiguous("lost"))
    await store.enqueue("hello")
    await deliver(store, channel)
    channel.arrived.update({ref: "SM1" for ref, _ in channel.calls})
    await store.admin.execute("update deliveries set started_at = started_at - interval '6 seconds'")
    await store.make_due()
    await deliver(store, channel)
    assert counts.of("onevalet_lost_answers_total", channel="sms", outcome="found") == 1


async def test_a_message_without_a_channel_is_counted_with_the_reason(store: Store) -> None:
    counts = Increase()
    await store.enqueue("hello")
    sender = DeliveryRunner(store.outbox, {}, "d1", random.Random(1))
    claim = await sender.claim(None)
    assert claim is not None
    await sender.run(claim)
    assert counts.of("onevalet_messages_failed_total", reason="not_configured") == 1


async def test_an_answer_is_timed_from_the_first_message_that_it_answers(store: Store) -> None:
    counts, channel = Increase(), RecordingChannel()
    await store.say("what is on?")
    await store.say("on Friday, I mean")
    await store.admin.execute("update inbound set received_at = received_at - interval '10 minutes' where seq = 1")
    await WorkerHarness(store).run_turns()
    await deliver(store, channel)
    assert counts.of("onevalet_answer_seconds_count", channel="sms") == 1
    assert counts.of("onevalet_answer_seconds_sum", channel="sms") == pytest.approx(600, abs=60)


async def test_further_parts_and_messages_of_a_turn_are_no_answers(store: Store) -> None:
    counts, channel = Increase(), RecordingChannel()
    await store.enqueue("one|two", "three")
    await deliver(store, channel)
    assert counts.of(DELIVERIES, channel="sms", outcome="accepted") == 3
    assert counts.of("onevalet_answer_seconds_count", channel="sms") == 1


async def test_an_answer_that_grew_in_sight_is_timed_until_it_began(store: Store) -> None:
    counts, channel = Increase(), RecordingChannel()
    await store.say("what is on?")
    await store.admin.execute("update inbound set received_at = received_at - interval '10 minutes'")
    await WorkerHarness(store).run_turns()
    await store.admin.execute("update outbound set stream_at = received_at + interval '2 seconds' from inbound")
    await deliver(store, channel)
    assert counts.of("onevalet_answer_seconds_count", channel="sms") == 1
    assert counts.of("onevalet_answer_seconds_sum", channel="sms") == pytest.approx(2, abs=0.5)


async def test_what_nobody_asked_for_is_no_answer(store: Store) -> None:
    counts, channel = Increase(), RecordingChannel()
    await store.enqueue("good morning")
    await store.db.outbound.change({"turn_id": None})
    await deliver(store, channel)
    assert counts.of("onevalet_answer_seconds_count", channel="sms") == 0
