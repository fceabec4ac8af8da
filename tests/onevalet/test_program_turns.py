"""A program that has OneValet inside stops its turns, leaves their streams, and reads all that came of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest

from core.language.catalogue import gettext
from core.messaging.messages import Address, InboundMessage
from onevalet import (
    AgentResult,
    AgentStatus,
    OneValet,
    StandardAgent,
    StreamEvent,
    StreamEventType,
    TurnState,
    valet,
)
from onevalet.testing import ModelCall, ScriptedModel, calls, text
from onevalet.testing import Reply as ScriptedReply
from onevalet.testing.scripted_replies import Script
from onevalet.wiring.program import ProgramTalk, Watched
from tests.eventually import eventually
from tests.onevalet.test_embedding import environment as environment

SETTINGS = {"ONEVALET_MODEL": "openai/scripted", "ONEVALET_MEMORY": "off"}


def hold_hello(call: ModelCall) -> ScriptedReply:
    """Answer nothing to "Hello" for as long as a test may take."""
    return text("Too late").after(600) if call.last_user == "Hello" else text("Here again.")


@valet()
class Sower(StandardAgent):
    """Sow what comes next."""

    def needs_approval(self) -> bool:
        return True

    async def on_running(self, msg: str) -> AgentResult:
        return self.make_result(AgentStatus.COMPLETED, raw_message="Sown")


@asynccontextmanager
async def answering(script: Script, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[OneValet, ScriptedModel]]:
    async with ScriptedModel(script) as model:
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        async with OneValet(SETTINGS, plugins=[Sower]) as opened:
            yield opened, model


async def test_a_program_stops_its_turn_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    async with answering(hold_hello, monkeypatch) as (assistant, model):
        assert not await assistant.stop("ann")
        asked = asyncio.create_task(assistant.handle_message("Hello", tenant="ann"))
        await eventually(lambda: model.calls, "the model is asked")
        assert not await assistant.stop("ann", conversation="another")
        assert await assistant.stop("ann", "enough for today")
        stopped = await asked
        assert (stopped.state, stopped.text) == (TurnState.INTERRUPTED, "Stopped: enough for today")
        assert (await assistant.handle_message("And now?", tenant="ann")).text == "Here again."
        assert await assistant.unread("ann") == []


async def test_closing_a_stream_stops_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    async with answering(hold_hello, monkeypatch) as (assistant, model):
        stream = assistant.stream_message("Hello", tenant="ann")
        assert (await anext(stream)).type is StreamEventType.STATE_CHANGE
        await stream.aclose()
        ended = [event async for event in assistant.stream_message("And now?", tenant="ann")][-1]
        assert (ended.type, ended.text, ended.success) == (StreamEventType.EXECUTION_END, "Here again.", True)
        assert gettext("Stopped.") in str(model.calls[-1].messages)
        assert await assistant.unread("ann") == []


async def test_a_stream_that_is_left_while_it_waits_for_another_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with answering(hold_hello, monkeypatch) as (assistant, model):
        first = asyncio.create_task(assistant.handle_message("Hello", tenant="ann"))
        await eventually(lambda: model.calls, "the model is asked")
        second = asyncio.ensure_future(anext(assistant.stream_message("Never said", tenant="ann")))
        await eventually(lambda: "program stream" in map(asyncio.Task.get_name, asyncio.all_tasks()), "it waits")
        second.cancel()
        await asyncio.wait([second])
        assert second.cancelled()
        assert await assistant.stop("ann")
        assert (await first).state is TurnState.INTERRUPTED
        assert (await assistant.handle_message("And now?", tenant="ann")).text == "Here again."
        assert "Never said" not in str(model.calls[-1].messages)


async def test_the_end_of_a_stream_has_all_that_came_of_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    async with answering([calls(("Sower", {})), text("Done.")], monkeypatch) as (assistant, _):
        ended = [event async for event in assistant.stream_message("Sow", tenant="ann")][-1]
        [waiting] = await assistant.approvals.list("ann")
        assert ended.result is not None
        assert [asked.name for asked in ended.result.approvals] == ["Sower"]
        assert (ended.result.state, ended.result.turns) == (TurnState.WAITING, 1)
        assert ended.result.usage.total > 0
        assert ended.result.history[0].text == "Sow"
        assert (await assistant.approvals.approve("ann", waiting.code)).state is TurnState.DONE


async def test_events_of_other_turns_stay_out_of_a_stream() -> None:
    class Talk:
        async def turn_of(self, key: str) -> str | None:
            return "turn_ours"

    place = Address("program", "local", "ann", "")
    watched = Watched(cast(ProgramTalk, Talk()), InboundMessage(place, "ann", ("said_1",), "Hi"))
    for turn_id in ("turn_ours", "turn_of_a_task", "turn_ours"):
        await watched.emit(StreamEvent(StreamEventType.STEP_COMPLETED, turn_id))
    assert [watched.events.get_nowait() for _ in range(2)] == [
        StreamEvent(StreamEventType.STEP_COMPLETED, "turn_ours")
    ] * 2
    assert watched.events.empty()
