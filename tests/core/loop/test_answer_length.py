"""How long an answer may be, over the wire: what is asked of the provider, and what comes of one that was cut off."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from core import replies
from core.llm.types import ModelRequest
from core.loop.config import ReactLoopConfig
from core.tools.tool import tool
from providers.models.litellm_client import LiteLLMClient
from tests.core.builders import SYSTEM, user
from tests.core.turns.test_wire import Line
from tests.scripted_model import ScriptedModel, calls, text

# litellm 1.106 looks through the last piece of a stream in a way that pydantic will drop.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

STREAMED = pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])


@pytest.fixture
async def line(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Line]:
    async with ScriptedModel([]) as model:
        monkeypatch.setenv("OPENAI_API_BASE", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-secret")
        client = LiteLLMClient("openai/scripted")
        await client.warm_up()
        yield Line(model, client)
        await client.close()


async def test_an_answer_has_a_greatest_length_unless_told_otherwise(line: Line) -> None:
    await line.turn(text("Seven"), tools=())
    await line.turn(text("Seven"), tools=(), config=ReactLoopConfig(max_output_tokens=300))
    asked = [call.body.get("max_tokens") or call.body.get("max_completion_tokens") for call in line.model.calls]
    assert asked == [8192, 300]


async def test_a_model_known_to_write_less_is_not_asked_for_more(line: Line) -> None:
    client = LiteLLMClient("openai/gpt-4")
    assert client.known("openai/gpt-4")["max_output_tokens"] == 4096
    line.model.add(text("Seven"))
    try:
        await client.answer(ModelRequest((SYSTEM, user("Hello")), max_output_tokens=8192, timeout=10))
    finally:
        await client.close()
    assert line.model.calls[-1].body["max_tokens"] == 4096


@STREAMED
async def test_promise_14_a_cut_answer_is_told_as_far_as_it_goes_with_a_note(line: Line, streamed: bool) -> None:
    config = ReactLoopConfig(llm_streaming=streamed)
    result = await line.turn(text("The first half", finish_reason="length"), tools=(), config=config)
    assert result.reply == f"The first half\n\n{replies.ANSWER_CUT_OFF}"


@STREAMED
@pytest.mark.parametrize("arguments", ["", '{"text": "hel'])
async def test_a_cut_call_is_an_error_to_the_model_and_never_run(line: Line, streamed: bool, arguments: str) -> None:
    ran: list[str] = []

    @tool(name="add_note", effect="once")
    async def add_note(text: str = "nothing") -> str:
        """Add a note."""
        ran.append(text)
        return "added"

    broken = replace(calls(("add_note", arguments)), finish_reason="length")
    config = ReactLoopConfig(llm_streaming=streamed)
    result = await line.turn(broken, text("It was too long."), tools=[add_note], config=config)
    assert ran == []
    assert list(line.model.calls[-1].tool_results.values()) == [replies.CALL_CUT_OFF]
    assert result.reply == "It was too long."
