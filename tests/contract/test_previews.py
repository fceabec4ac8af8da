"""The contract of previews: what a person sees while an answer is written, and that they then have it once, whole."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from core.llm.types import ModelChunk, ModelRequest
from core.messaging.capabilities import Marking, Streaming, Unseen
from core.messaging.messages import Address, OutboundKind, OutboundMessage
from core.messaging.streamed_message import StreamRow
from core.replies import TAKES_LONGER
from core.turns.orchestrator import Orchestrator
from jobs.turns.runner import TurnRunner
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import SlackHarness
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.harness import ChannelHarness, exempt
from tests.core.builders import FakeModel, says
from tests.eventually import eventually
from tests.patience import PATIENCE
from workbench.simulator.faults import FaultKind

BEGINNING = marked(
    "The answer has a beginning that is long enough to be shown while the rest of it is still thought of"
)
WHOLE = f"{BEGINNING}, and an end."
NO_PREVIEW = {"sms": "a text is sent whole", "telegram": "a draft is no message: nothing of it stays"}

SHOWS = {"slack": "slack.assistant.threads.setStatus", "telegram": "telegram.sendChatAction"}
"""The call by which each channel shows that the assistant works; by SMS there is none."""


@dataclass
class HalfWriter(FakeModel):
    """Write half of an answer, and the rest when the gate opens."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk]:
        """Write the next of the script, half by half."""
        answer = await self.answer(request)
        half = len(BEGINNING) if answer.text.startswith(BEGINNING) else len(answer.text)
        yield ModelChunk(answer.text[:half])
        await self.gate.wait()
        yield ModelChunk(answer.text[half:])
        yield ModelChunk(answer=answer)


async def in_thread(harness: ChannelHarness, text: str, thread: str = "") -> Address:
    """Let Ada write, on Slack in a thread, of an earlier message if none is named; return where she is answered."""
    if not isinstance(harness, SlackHarness):
        await harness.said(text)
        return harness.address()
    root = thread or (await harness.act("say", text=marked("earlier")))["ts"]
    await harness.settled()
    await harness.act("say", text=text, thread_ts=root)
    await harness.settled()
    return Address(harness.name, harness.account, harness.address().peer, root)


def runner_of(delivery: DeliveryHarness, model: FakeModel) -> TurnRunner:
    """Return a runner of turns whose previews may follow at once."""
    for pace in ("stream_every", "draft_every"):
        if hasattr(delivery.channel.sender, pace):
            setattr(delivery.channel.sender, pace, 0.01)
    channels = {delivery.channel.name: delivery.channel.sender}
    return TurnRunner(
        delivery.store.turns, Orchestrator(model), delivery.store.wakeups, channels, delivery.store.make_id, "w1"
    )


def work(delivery: DeliveryHarness, model: FakeModel) -> Callable[[], Awaitable[None]]:
    """Return what runs all turns that wait; previews may follow at once."""
    runner = runner_of(delivery, model)

    async def run() -> None:
        while lease := await runner.claim(None):
            await runner.run(lease)

    return run


async def only_the_last(delivery: DeliveryHarness) -> None:
    """Forget what was said but not answered, so that one turn stands alone."""
    await delivery.store.admin.execute("update inbound set state = 'done' where text like '%earlier%'")
    await delivery.store.admin.execute(
        "update lanes l set pending = exists (select 1 from inbound i"
        " where i.conversation_id = l.conversation_id and i.state = 'waiting')"
    )


def seen(harness: ChannelHarness) -> str:
    """Return what Ada sees of an answer that is being written; empty for nothing."""
    provider = cast(dict[str, Any], harness.simulator.providers[harness.provider].state())["people"]["ada"]
    if harness.name == "telegram":
        return cast(str, (provider["draft"] or {}).get("text", ""))
    growing = [bubble["text"] for bubble in provider["bubbles"] if bubble.get("streaming")]
    return growing[0] if growing else ""


def marks(harness: ChannelHarness) -> list[str]:
    """Return the reactions on what Ada wrote."""
    provider = cast(dict[str, Any], harness.simulator.providers[harness.provider].state())["people"]["ada"]
    return [name for bubble in provider["bubbles"] if bubble["direction"] == "in" for name in bubble["reactions"]]


def texts(harness: ChannelHarness) -> list[str]:
    """Return what Ada has of ours."""
    return [bubble.text for bubble in harness.bubbles()]


async def test_while_a_slow_model_thinks_people_go_on_seeing_that_it_works(
    delivery: DeliveryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.turns.preview.WORKING_EVERY", 0.02)
    harness = delivery.channel
    if isinstance(harness.sender, Unseen):
        harness.sender.told_after = 0.02
    await in_thread(harness, marked("Explain"))
    await only_the_last(delivery)
    model = HalfWriter([says("")])
    running = asyncio.ensure_future(work(delivery, model)())
    shows = SHOWS.get(harness.name)
    await eventually(lambda: len(harness.calls(shows)) > 3 if shows else bool(delivery.store.wakeups.deliveries))
    model.script.append(says(WHOLE))
    model.gate.set()
    await running
    await delivery.deliver()
    assert texts(harness)[-1] == WHOLE
    assert texts(harness)[:-1] == ([] if shows else [TAKES_LONGER])


async def test_a_stop_while_an_answer_is_written_ends_it_at_once(delivery: DeliveryHarness) -> None:
    harness, stops = delivery.channel, delivery.store.wakeups.interrupts
    where = await in_thread(harness, marked("Explain"))
    await only_the_last(delivery)
    model = HalfWriter([says(WHOLE)])  # the gate stays shut
    runner = runner_of(delivery, model)
    lease = await runner.claim(None)
    assert lease is not None
    running = asyncio.ensure_future(runner.run(lease))
    await eventually(lambda: bool(model.requests) if harness.name == "sms" else seen(harness) == BEGINNING)
    await in_thread(harness, "/stop" if harness.name == "telegram" else "HALT", where.thread)
    assert len(stops) == 1
    await runner.interrupts.look(stops[0])
    await running
    await delivery.deliver()
    assert texts(harness) == ["Stopped."]
    assert seen(harness) == ""


@exempt(sms=NO_PREVIEW["sms"])
async def test_an_answer_is_seen_while_it_is_written_and_then_stands_there_once(delivery: DeliveryHarness) -> None:
    await in_thread(delivery.channel, marked("Explain"))
    await only_the_last(delivery)
    model = HalfWriter([says(WHOLE)])
    running = asyncio.ensure_future(work(delivery, model)())
    await eventually(lambda: seen(delivery.channel) == BEGINNING)
    model.gate.set()
    await running
    await delivery.deliver()
    assert texts(delivery.channel) == [WHOLE]
    assert seen(delivery.channel) == ""
    assert delivery.channel.calls(SHOWS[delivery.channel.name])
    assert await delivery.store.db.outbound.column("state") == ["sent"]


async def test_nothing_is_shown_ahead_by_sms_or_at_slacks_top_level(delivery: DeliveryHarness) -> None:
    await delivery.meet()
    model = HalfWriter([says(WHOLE)])
    model.gate.set()
    await work(delivery, model)()
    await delivery.deliver()
    assert texts(delivery.channel) == [WHOLE]
    if delivery.channel.name != "telegram":
        sent = [
            call.endpoint for call in delivery.channel.simulator.wire.journal.calls(provider=delivery.channel.provider)
        ]
        assert not [call for call in sent if "Stream" in call or "setStatus" in call]
        assert sent.count(delivery.channel.sending) == 1


@exempt(sms="a text has nothing that could show it", telegram="typing shows it, the first case")
async def test_a_message_is_marked_while_it_is_answered_where_no_status_is(delivery: DeliveryHarness) -> None:
    await delivery.channel.said(marked("Explain"))
    model = HalfWriter([says(WHOLE)])
    running = asyncio.ensure_future(work(delivery, model)())
    await eventually(lambda: marks(delivery.channel) == ["eyes"])
    assert not running.done()
    model.gate.set()
    await running
    await delivery.deliver()
    assert texts(delivery.channel) == [WHOLE]
    await eventually(lambda: marks(delivery.channel) == [])


@exempt(sms="a text has nothing that could show it", telegram="typing shows it, the first case")
async def test_a_mark_that_a_killed_worker_left_is_taken_away(delivery: DeliveryHarness) -> None:
    await delivery.channel.said(marked("Explain"))
    _, turn = await delivery.store.claim_turn("dead")
    assert isinstance(delivery.channel.sender, Marking)
    assert turn.newest_message
    delivery.channel.sender.mark(turn.address, turn.newest_message)
    await eventually(lambda: marks(delivery.channel) == ["eyes"])
    await delivery.store.expire()
    delivery.channel.misbehave(FaultKind.SERVER_ERROR, endpoint="slack.reactions.remove")
    await work(delivery, HalfWriter([says(WHOLE)], gate=_open()))()
    await eventually(lambda: marks(delivery.channel) == [])


@pytest.mark.parametrize("fault", [FaultKind.RATE_LIMIT, FaultKind.SERVER_ERROR_AFTER])
@exempt(sms=NO_PREVIEW["sms"])
async def test_what_happens_to_a_preview_neither_delays_nor_doubles_the_answer(
    delivery: DeliveryHarness, fault: FaultKind
) -> None:
    endpoints = {
        "slack": ["slack.chat.startStream", "slack.chat.appendStream", "slack.chat.stopStream"],
        "telegram": ["telegram.sendMessageDraft"],
    }
    for number, endpoint in enumerate(endpoints[delivery.channel.name]):
        delivery.channel.simulator.wire.faults.clear()
        delivery.channel.misbehave(fault, times=0, seconds=10 * PATIENCE, endpoint=endpoint)
        await in_thread(delivery.channel, marked(f"Explain {number}"))
        await only_the_last(delivery)
        model = HalfWriter([says(f"{WHOLE} {number}")])
        running = asyncio.ensure_future(work(delivery, model)())

        def is_called(endpoint: str = endpoint) -> bool:
            return bool(delivery.channel.calls(endpoint)) or "stop" in endpoint

        await eventually(is_called)
        model.gate.set()
        async with asyncio.timeout(PATIENCE):  # a fraction of what the faults ask to wait
            await running
            await delivery.deliver()
        assert texts(delivery.channel) == [f"{WHOLE} {n}" for n in range(number + 1)]
    assert set(await delivery.store.db.outbound.column("state")) == {"sent"}
    assert set(await delivery.store.db.outbound.column("attempts")) == {1}


LOST = ["before the message", "before its id", "before the first word", "after some words"]


@pytest.mark.parametrize("died", LOST)
@exempt(**NO_PREVIEW)
async def test_promise_5_a_worker_killed_while_streaming_leaves_one_answer(
    delivery: DeliveryHarness, died: str
) -> None:
    where = await in_thread(delivery.channel, marked("Explain"))
    await only_the_last(delivery)
    lease, turn = await delivery.store.claim_turn("dead")
    channel = delivery.channel.sender
    assert isinstance(channel, Streaming)
    await _grow_until(died, channel, delivery.store.turns.stream_row(lease, turn.turn_id), where)
    await delivery.store.expire()
    await work(delivery, HalfWriter([says(WHOLE)], gate=_open()))()
    assert [bubble.text for bubble in delivery.channel.bubbles() if bubble.text not in ("", "Some words")] == []
    assert len(delivery.channel.calls("slack.chat.startStream")) == (died != LOST[0]), "the second worker began another"
    await delivery.deliver()
    assert texts(delivery.channel) == [WHOLE]
    assert await delivery.store.db.outbound.column("state") == ["sent"]


@exempt(**NO_PREVIEW)
async def test_promise_7_a_streamed_answer_with_a_lost_end_is_found_not_resent(
    delivery: DeliveryHarness,
) -> None:
    await _grown(delivery)
    delivery.channel.misbehave(FaultKind.SERVER_ERROR_AFTER, endpoint="slack.chat.update")
    await delivery.deliver()
    await delivery.deliver_later()
    assert texts(delivery.channel) == [WHOLE]
    assert await delivery.store.db.deliveries.column("outcome") == ["found"]
    assert len(delivery.channel.calls("slack.chat.update")) == 1
    assert not delivery.channel.calls(delivery.channel.sending)


@exempt(**NO_PREVIEW)
async def test_an_answer_too_long_for_its_draft_is_posted_and_the_draft_removed(delivery: DeliveryHarness) -> None:
    await _grown(delivery, text=WHOLE + " word" * 5000)
    ts = str(await delivery.store.db.outbound.one("stream"))
    await delivery.channel.sender.drop_stream(delivery.channel.address(), ts)  # type: ignore[attr-defined]
    await delivery.deliver()
    assert " ".join(texts(delivery.channel)).split() == (WHOLE + " word" * 5000).split()


@exempt(**NO_PREVIEW)
async def test_promise_4_messages_during_a_turn_stay_above_its_answer(delivery: DeliveryHarness) -> None:
    await in_thread(delivery.channel, marked("Explain"))
    await only_the_last(delivery)
    model = HalfWriter([says(WHOLE)])
    running = asyncio.ensure_future(work(delivery, model)())
    await eventually(lambda: seen(delivery.channel) == BEGINNING)
    (row,) = await delivery.store.admin.fetch("select tenant_id, conversation_id from outbound")
    note = OutboundMessage(delivery.store.make_id("out"), OutboundKind.NOTIFICATION, marked("By the way"))
    await delivery.store.enqueue_in(row["tenant_id"], row["conversation_id"], [note])
    await delivery.deliver()
    assert marked("By the way") in texts(delivery.channel), "a growing answer holds nothing up"
    model.gate.set()
    await running
    await delivery.deliver()
    assert texts(delivery.channel) == [marked("By the way"), WHOLE]


@exempt(**NO_PREVIEW)
async def test_an_answer_grows_only_at_the_head_of_the_outbox(delivery: DeliveryHarness) -> None:
    await in_thread(delivery.channel, marked("Explain"))
    await only_the_last(delivery)
    (row,) = await delivery.store.admin.fetch("select tenant_id, conversation_id from inbound where state = 'waiting'")
    note = OutboundMessage(delivery.store.make_id("out"), OutboundKind.NOTIFICATION, marked("First things first"))
    await delivery.store.enqueue_in(row["tenant_id"], row["conversation_id"], [note])
    await work(delivery, HalfWriter([says(WHOLE)], gate=_open()))()
    await delivery.deliver()
    assert texts(delivery.channel) == [marked("First things first"), WHOLE]
    assert not delivery.channel.calls("slack.chat.startStream")


@exempt(**NO_PREVIEW)
async def test_a_turn_that_ends_without_an_answer_takes_its_beginning_back(delivery: DeliveryHarness) -> None:
    await in_thread(delivery.channel, marked("Explain"))
    await only_the_last(delivery)
    lease, turn = await delivery.store.claim_turn()
    channel = delivery.channel.sender
    assert isinstance(channel, Streaming)
    where = turn.address
    await _grow_until(LOST[3], channel, delivery.store.turns.stream_row(lease, turn.turn_id), where)
    await delivery.store.finish(lease, turn)
    delivery.channel.misbehave(FaultKind.RATE_LIMIT, endpoint="slack.chat.delete")
    await delivery.deliver()
    await delivery.deliver_later()
    assert texts(delivery.channel) == []
    assert await delivery.store.db.outbound.column("id") == []


async def _grown(delivery: DeliveryHarness, text: str = WHOLE) -> None:
    """Let an answer grow, and its turn end; nothing is delivered yet."""
    await in_thread(delivery.channel, marked("Explain"))
    await only_the_last(delivery)
    model = HalfWriter([says(text)])
    running = asyncio.ensure_future(work(delivery, model)())
    await eventually(lambda: seen(delivery.channel) == BEGINNING)
    model.gate.set()
    await running


async def _grow_until(died: str, channel: Streaming, row: StreamRow, where: Address) -> None:
    """Do what a worker does before it dies at a point."""
    steps = LOST.index(died)
    assert await row.begin()
    if steps >= 1:
        stream = await channel.start_stream(where)
    if steps >= 2:
        assert await row.keep(stream)
    if steps >= 3:
        await channel.append_stream(where, stream, "Some words")


def _open() -> asyncio.Event:
    gate = asyncio.Event()
    gate.set()
    return gate
