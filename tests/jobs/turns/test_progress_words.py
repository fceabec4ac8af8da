"""What is done is said in words while tools run, where a channel can show it; the answer takes its place."""

from importlib import import_module

import pytest

from core.hooks.hooks import HookContext, PlannedCall
from core.language.catalogue import speaking
from core.llm.types import ModelAnswer, TextSoFar, ToolCall
from core.tools.doing import MAX_DOING, as_status, doing_in_words
from jobs.turns.preview import Drafting
from onevalet import Orchestrator, StreamEventType, ToolExecutionContext, new_turn, tool
from tests.core.builders import FakeModel

WHERE = HookContext("turn", "ann", "telegram")


@tool(effect="read", doing="Measuring the soil…")
async def measure_soil(context: ToolExecutionContext) -> str:
    """Measure the soil."""
    await context.progress("Two of three beds")
    return "dry"


def test_a_tool_says_what_it_does_and_its_name_does_otherwise() -> None:
    assert doing_in_words(measure_soil, "measure_soil") == "Measuring the soil…"
    assert doing_in_words(None, "add_note") == "Add note…"


def test_the_weather_is_checked_in_the_persons_language() -> None:
    from abilities.weather.tools import get_weather

    with speaking("de"):
        assert doing_in_words(get_weather, "get_weather") == "Ich sehe nach dem Wetter …"


def test_a_status_is_one_short_line() -> None:
    assert as_status(" two\nlines ") == "two lines"
    assert len(as_status("long " * 100)) == MAX_DOING


async def test_a_draft_shows_what_is_done_until_the_answer_is_written() -> None:
    drafting = Drafting(lambda name: f"{name}…")
    await drafting.reasoning_chunk(WHERE, TextSoFar("Let me see", "Let me see"))
    assert drafting.shown == "Let me see"
    wanted = (ToolCall("1", "one", "{}"), ToolCall("2", "two", "{}"))
    await drafting.post_reasoning(WHERE, ModelAnswer(tool_calls=wanted))
    assert (drafting.shown, drafting.text) == ("_one… two…_", "Let me see")
    await drafting.acting_chunk(WHERE, PlannedCall("1", "one", {}), "Page 2 of https://evil.example/x")
    assert "evil" not in drafting.shown
    await drafting.reasoning_chunk(WHERE, TextSoFar("Done", "Done"))
    assert drafting.shown == "Done"


async def test_a_stream_tells_of_calls_in_words_and_of_their_progress() -> None:
    call = ModelAnswer(tool_calls=(ToolCall("1", "measure_soil", "{}"),))
    orchestrator = Orchestrator(FakeModel([call, ModelAnswer(text="It is dry.")]), tools=[measure_soil])
    told = {event.type: event.text async for event in orchestrator.stream_message(new_turn("Is it dry?", "ann"))}
    assert told[StreamEventType.TOOL_CALL_START] == "Measuring the soil…"
    assert told[StreamEventType.TOOL_PROGRESS] == "Two of three beds"


@pytest.mark.parametrize("channel", ["sms", "push", "email"])
def test_no_channel_that_cannot_take_a_word_back_is_told(channel: str) -> None:
    kinds = [value for value in vars(import_module(f"notify.{channel}.send")).values() if isinstance(value, type)]
    own = [kind for kind in kinds if kind.__module__ == f"notify.{channel}.send" and hasattr(kind, "render")]
    assert own
    assert not [kind for kind in own if hasattr(kind, "show_doing") or hasattr(kind, "show_draft")]
