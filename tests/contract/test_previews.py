"""The contract of previews: what a person sees while an answer is written, and that they then have it once, whole."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from core.llm.types import ModelChunk, ModelRequest
from core.messaging.channels import Streaming
from core.messaging.messages import Address, OutboundKind, OutboundMessage
from core.messaging.streamed_message import StreamRow
from core.turns.orchestrator import Orchestrator
from jobs.turns import TurnRunner
from simulator.faults import FaultKind
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import SlackHouse
from tests.contract.delivery_harness import Desk
from tests.contract.harness import ChannelHouse, exempt, until
from tests.core.builders import FakeModel, says

BEGINNING = marked(
    "The answer has a beginning that is long enough to be shown while the rest of it is still thought of"
)
WHOLE = f"{BEGINNING}, and an end."
NO_PREVIEW = {"sms": "a text is sent whole", "telegram": "a draft is no message: nothing of it stays"}


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


async def in_thread(house: ChannelHouse, text: str) -> Address:
    """Let Ada write, on Slack in a thread of an earlier message; gives where she is answered."""
    if not isinstance(house, SlackHouse):
        await house.said(text)
        return house.address()
    root = (await house.act("say", text=marked("earlier")))["ts"]
    await house.settled()
    await house.act("say", text=text, thread_ts=root)
    await house.settled()
    return Address(house.name, house.account, house.address().peer, root)


def work(desk: Desk, model: FakeModel) -> Callable[[], Awaitable[None]]:
    """Give what runs all turns that wait; previews may follow at once."""
    for pace in ("stream_every", "draft_every"):
        if hasattr(desk.house.sender, pace):
            setattr(desk.house.sender, pace, 0.01)
    channels = {desk.house.name: desk.house.sender}
    runner = TurnRunner(desk.store.turns, Orchestrator(model), desk.store.bell, channels, desk.store.make_id, "w1")

    async def run() -> None:
        while lease := await runner.claim(None):
            await runner.run(lease)

    return run


async def only_the_last(desk: Desk) -> None:
    """Forget what was said but not answered, so that one turn stands alone."""
    await desk.store.eye.execute("update inbound set state = 'done' where text like '%earlier%'")
    await desk.store.eye.execute(
        "update lanes l set pending = exists (select 1 from inbound i"
        " where i.conversation_id = l.conversation_id and i.state = 'waiting')"
    )


def seen(house: ChannelHouse) -> str:
    """Give what Ada sees of an answer that is being written; empty for nothing."""
    provider = cast(dict[str, Any], house.simulator.providers[house.provider].state())["people"]["ada"]
    if house.name == "telegram":
        return cast(str, (provider["draft"] or {}).get("text", ""))
    growing = [one["text"] for one in provider["bubbles"] if one.get("streaming")]
    return growing[0] if growing else ""


def texts(house: ChannelHouse) -> list[str]:
    """Give what Ada has of ours."""
    return [one.text for one in house.bubbles()]


@exempt(sms=NO_PREVIEW["sms"])
async def test_an_answer_is_seen_while_it_is_written_and_then_stands_there_once(desk: Desk) -> None:
    await in_thread(desk.house, marked("Explain"))
    await only_the_last(desk)
    model = HalfWriter([says(WHOLE)])
    running = asyncio.ensure_future(work(desk, model)())
    await until(lambda: seen(desk.house) == BEGINNING)
    model.gate.set()
    await running
    await desk.deliver()
    assert texts(desk.house) == [WHOLE]
    assert seen(desk.house) == ""
    working = {"slack": "slack.assistant.threads.setStatus", "telegram": "telegram.sendChatAction"}
    assert desk.house.calls(working[desk.house.name])
    assert await desk.store.column("select state from outbound") == ["sent"]


async def test_nothing_is_shown_ahead_by_sms_or_at_slacks_top_level(desk: Desk) -> None:
    await desk.meet()
    model = HalfWriter([says(WHOLE)])
    model.gate.set()
    await work(desk, model)()
    await desk.deliver()
    assert texts(desk.house) == [WHOLE]
    if desk.house.name != "telegram":
        sent = [one.endpoint for one in desk.house.simulator.wire.journal.calls(provider=desk.house.provider)]
        assert not [one for one in sent if "Stream" in one or "setStatus" in one]
        assert sent.count(desk.house.sending) == 1


@pytest.mark.parametrize("fault", [FaultKind.RATE_LIMIT, FaultKind.SERVER_ERROR_AFTER])
@exempt(sms=NO_PREVIEW["sms"])
async def test_what_happens_to_a_preview_neither_delays_nor_doubles_the_answer(desk: Desk, fault: FaultKind) -> None:
    endpoints = {
        "slack": ["slack.chat.startStream", "slack.chat.appendStream", "slack.chat.stopStream"],
        "telegram": ["telegram.sendMessageDraft"],
    }
    for number, endpoint in enumerate(endpoints[desk.house.name]):
        desk.house.simulator.wire.faults.clear()
        desk.house.misbehave(fault, times=0, seconds=60, endpoint=endpoint)
        await in_thread(desk.house, marked(f"Explain {number}"))
        await only_the_last(desk)
        model = HalfWriter([says(f"{WHOLE} {number}")])
        running = asyncio.ensure_future(work(desk, model)())
        await until(lambda called=endpoint: bool(desk.house.calls(called)) or "stop" in called)  # type: ignore[misc]
        model.gate.set()
        async with asyncio.timeout(5):
            await running
            await desk.deliver()
        assert texts(desk.house) == [f"{WHOLE} {n}" for n in range(number + 1)]
    assert set(await desk.store.column("select state from outbound")) == {"sent"}
    assert set(await desk.store.column("select attempts from outbound")) == {1}


LOST = ["before the message", "before its id", "before the first word", "after some words"]


@pytest.mark.parametrize("died", LOST)
@exempt(**NO_PREVIEW)
async def test_promise_5_a_worker_that_dies_over_a_growing_answer_leaves_one_answer(desk: Desk, died: str) -> None:
    where = await in_thread(desk.house, marked("Explain"))
    await only_the_last(desk)
    lease, turn = await desk.store.claim_turn("dead")
    channel = desk.house.sender
    assert isinstance(channel, Streaming)
    await _grow_until(died, channel, desk.store.turns.stream_row(lease, turn.turn_id), where)
    await desk.store.expire()
    await work(desk, HalfWriter([says(WHOLE)], gate=_open()))()
    assert [one.text for one in desk.house.bubbles() if one.text not in ("", "Some words")] == []
    assert len(desk.house.calls("slack.chat.startStream")) == (died != LOST[0]), "the second worker began another"
    await desk.deliver()
    assert texts(desk.house) == [WHOLE]
    assert await desk.store.column("select state from outbound") == ["sent"]


@exempt(**NO_PREVIEW)
async def test_promise_7_an_answer_whose_completion_was_lost_is_found_and_not_sent_again(desk: Desk) -> None:
    await _grown(desk)
    desk.house.misbehave(FaultKind.SERVER_ERROR_AFTER, endpoint="slack.chat.update")
    await desk.deliver()
    await desk.deliver_later()
    assert texts(desk.house) == [WHOLE]
    assert await desk.store.column("select outcome from deliveries") == ["found"]
    assert len(desk.house.calls("slack.chat.update")) == 1
    assert not desk.house.calls(desk.house.sending)


@exempt(**NO_PREVIEW)
async def test_an_answer_that_its_message_cannot_hold_is_posted_and_the_message_goes(desk: Desk) -> None:
    await _grown(desk, text=WHOLE + " word" * 5000)
    ts = str(await desk.store.one("select stream from outbound"))
    await desk.house.sender.drop_stream(desk.house.address(), ts)  # type: ignore[attr-defined]
    await desk.deliver()
    assert " ".join(texts(desk.house)).split() == (WHOLE + " word" * 5000).split()


@exempt(**NO_PREVIEW)
async def test_promise_4_what_was_said_meanwhile_stays_above_the_answer(desk: Desk) -> None:
    await in_thread(desk.house, marked("Explain"))
    await only_the_last(desk)
    model = HalfWriter([says(WHOLE)])
    running = asyncio.ensure_future(work(desk, model)())
    await until(lambda: seen(desk.house) == BEGINNING)
    (row,) = await desk.store.eye.fetch("select tenant_id, conversation_id from outbound")
    note = OutboundMessage(desk.store.make_id("out"), OutboundKind.NOTIFICATION, marked("By the way"))
    await desk.store.outbox.owe(row["tenant_id"], row["conversation_id"], [note])
    await desk.deliver()
    assert marked("By the way") in texts(desk.house), "a growing answer holds nothing up"
    model.gate.set()
    await running
    await desk.deliver()
    assert texts(desk.house) == [marked("By the way"), WHOLE]


@exempt(**NO_PREVIEW)
async def test_an_answer_grows_only_at_the_head_of_the_outbox(desk: Desk) -> None:
    await in_thread(desk.house, marked("Explain"))
    await only_the_last(desk)
    (row,) = await desk.store.eye.fetch("select tenant_id, conversation_id from inbound where state = 'waiting'")
    note = OutboundMessage(desk.store.make_id("out"), OutboundKind.NOTIFICATION, marked("First things first"))
    await desk.store.outbox.owe(row["tenant_id"], row["conversation_id"], [note])
    await work(desk, HalfWriter([says(WHOLE)], gate=_open()))()
    await desk.deliver()
    assert texts(desk.house) == [marked("First things first"), WHOLE]
    assert not desk.house.calls("slack.chat.startStream")


@exempt(**NO_PREVIEW)
async def test_a_turn_that_ends_without_an_answer_takes_its_beginning_back(desk: Desk) -> None:
    await in_thread(desk.house, marked("Explain"))
    await only_the_last(desk)
    lease, turn = await desk.store.claim_turn()
    channel = desk.house.sender
    assert isinstance(channel, Streaming)
    where = turn.address
    await _grow_until(LOST[3], channel, desk.store.turns.stream_row(lease, turn.turn_id), where)
    await desk.store.finish(lease, turn)
    desk.house.misbehave(FaultKind.RATE_LIMIT, endpoint="slack.chat.delete")
    await desk.deliver()
    await desk.deliver_later()
    assert texts(desk.house) == []
    assert await desk.store.column("select id from outbound") == []


async def _grown(desk: Desk, text: str = WHOLE) -> None:
    """Let an answer grow, and its turn end; nothing is delivered yet."""
    await in_thread(desk.house, marked("Explain"))
    await only_the_last(desk)
    model = HalfWriter([says(text)])
    running = asyncio.ensure_future(work(desk, model)())
    await until(lambda: seen(desk.house) == BEGINNING)
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
