"""Turns, calls and deliveries as spans: across crashes and retries, with agents, and what stands on them."""

import re

import pytest

from core import tracing
from core.agents.standard_agent import StandardAgent
from core.agents.valet import valet
from core.errors import LeaseLost, Unavailable
from core.tools.tool import tool
from core.turns.types import TurnRequest, TurnResult
from jobs.delivery.runner import DeliveryRunner
from tests.core.agents.conftest import talk as talk
from tests.core.agents.harness import Talk
from tests.core.harness import Store
from tests.jobs.harness import RecordingChannel
from tests.jobs.worker_harness import WorkerHarness
from tests.operations.tracing.collector import Collector, open_collector, traced
from tests.scripted_model import calls, text

SECRET = "the blue folder"


@tool(name="look", effect="read")
async def look(at: str) -> str:
    """Look at something.

    Args:
        at: What.
    """
    return f"{at} is there"


@tool(name="break", effect="read")
async def broken() -> str:
    """Break."""
    raise ValueError(SECRET)


@valet(name="Finder")
class Finder(StandardAgent):
    """Find things."""

    tools = (look,)


async def heard(store: Store, words: str = "hello") -> str:
    """Let a person write, and return the context that the message carries."""
    with tracing.span("receive"):
        await store.say(words)
        return tracing.traceparent() or ""


async def deliver(store: Store, channel: RecordingChannel) -> None:
    """Send what is due now."""
    sender = DeliveryRunner(store.outbox, {"sms": channel}, "d1")
    while claim := await sender.claim(None):
        await sender.run(claim)


async def test_a_turn_whose_worker_is_gone_goes_on_in_the_same_trace(store: Store) -> None:
    async def gone(request: TurnRequest) -> TurnResult:
        raise LeaseLost

    with open_collector() as collector:
        with traced(collector):
            context = await heard(store)
            runner = WorkerHarness(store).turn_runner(gone)
            lease = await runner.claim(None)
            assert lease is not None
            await runner.run(lease)
            await store.expire()
            await WorkerHarness(store, name="w2").run_turns()
            await deliver(store, RecordingChannel())
        first, second = [span for span in collector.spans if span.name == "turn"]
        assert [first.attributes["onevalet.turn.attempt"], second.attributes["onevalet.turn.attempt"]] == [1, 2]
        assert (first.failed, first.attributes["error.type"], second.failed) == (True, "LeaseLost", False)
        assert {first.parent, second.parent} == {context.split("-")[2]}
        assert collector.named("send sms").parent == second.id


async def test_a_turn_that_carries_no_context_is_one_trace_over_its_attempts(store: Store) -> None:
    async def gone(request: TurnRequest) -> TurnResult:
        raise LeaseLost

    await store.say("before anybody recorded")
    with open_collector() as collector:
        with traced(collector):
            runner = WorkerHarness(store).turn_runner(gone)
            lease = await runner.claim(None)
            assert lease is not None
            await runner.run(lease)
            await store.expire()
            await WorkerHarness(store, name="w2").run_turns()
        first, second = [span for span in collector.spans if span.name == "turn"]
        assert first.trace == second.trace
        assert (first.parent, second.parent) == ("", "")


async def test_messages_that_are_answered_together_are_linked(store: Store) -> None:
    with open_collector() as collector:
        with traced(collector):
            await heard(store, "one")
            await heard(store, "two")
            await WorkerHarness(store).run_turns()
        first, second = [span for span in collector.spans if span.name == "receive"]
        turn = collector.named("turn")
        assert (turn.trace, turn.parent, turn.links) == (first.trace, first.id, (second.id,))


async def test_a_part_that_is_sent_again_is_a_sibling_in_its_trace(store: Store) -> None:
    channel = RecordingChannel()
    channel.acts.append(Unavailable("away"))
    with open_collector() as collector:
        with traced(collector):
            await heard(store)
            await WorkerHarness(store).run_turns()
            await deliver(store, channel)
            await store.make_due()
            await deliver(store, channel)
        failed, sent = [span for span in collector.spans if span.name == "send sms"]
        assert (failed.failed, failed.attributes["onevalet.outbound.outcome"]) == (True, "retry")
        assert (sent.failed, sent.attributes["onevalet.outbound.outcome"]) == (False, "accepted")
        assert {failed.parent, sent.parent} == {collector.named("turn").id}


@pytest.mark.xdist_group("model")
async def test_an_agents_calls_stand_below_it_with_tokens_and_without_texts(talk: Talk) -> None:
    collector = await asked(talk, captures_content=False)
    below = "turn", "invoke_agent assistant", "execute_tool Finder", "invoke_agent Finder"
    assert collector.path(collector.named("execute_tool look"))[-5:] == [*below, "execute_tool look"]
    chats = [collector.path(span)[-2] for span in collector.spans if span.name == "chat scripted"]
    assert sorted(chats) == ["invoke_agent Finder"] * 2 + ["invoke_agent assistant"] * 3
    chat = next(span for span in collector.spans if span.name == "chat scripted")
    assert chat.kind == "client"
    assert chat.attributes["gen_ai.provider.name"] == "openai"
    assert isinstance(chat.attributes["gen_ai.usage.input_tokens"], int)
    failed = collector.named("execute_tool break")
    assert (failed.failed, failed.attributes["error.type"]) == (True, "ValueError")
    assert SECRET.encode() not in collector.raw
    assert b"+1555" not in collector.raw


@pytest.mark.xdist_group("model")
async def test_texts_stand_on_calls_where_the_operator_wants_them(talk: Talk) -> None:
    collector = await asked(talk, captures_content=True)
    look_at = collector.named("execute_tool look").attributes
    assert look_at["gen_ai.tool.call.arguments"] == f'{{"at": "{SECRET}"}}'
    assert look_at["gen_ai.tool.call.result"] == f"{SECRET} is there"
    chat = next(span for span in collector.spans if span.name == "chat scripted")
    assert f"Where is {SECRET}?" in str(chat.attributes["gen_ai.input.messages"])
    assert "tool_call" in str(chat.attributes["gen_ai.output.messages"])


async def asked(talk: Talk, *, captures_content: bool) -> Collector:
    """Let a person ask for what an agent finds, and a tool then breaks; return what was exported."""
    talk.agents, talk.tools = (Finder,), (broken,)
    talk.model.add(
        calls(("Finder", {"task_instruction": f"find {SECRET}"})),
        calls(("look", {"at": SECRET})),
        text(f"{SECRET} is found"),
        calls(("break", {})),
        text("It is there."),
    )
    with open_collector() as collector:
        with traced(collector, captures_content=captures_content):
            await talk.say(f"Where is {SECRET}?")
        return collector


async def test_a_span_carries_its_context_in_the_standards_form() -> None:
    with open_collector() as collector:
        with traced(collector), tracing.span("outer"):
            context = tracing.traceparent() or ""
            with tracing.span("inner", parent="nonsense"):
                pass
        assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-0[13]", context)
        assert collector.named("inner").parent == "", "what no row of ours carried is no parent"
