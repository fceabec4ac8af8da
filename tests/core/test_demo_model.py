"""The demo model, with the tools that ship."""

from datetime import UTC, datetime

import pytest

from core.demo_model import DemoModel
from core.journal import MemoryJournal
from core.loader import load_plugins
from core.model_types import ChatMessage
from core.orchestrator import Orchestrator
from core.turn_types import TurnMessage, TurnRequest, TurnState, TurnTenant


async def _say(*texts: str, history: tuple[ChatMessage, ...] = ()) -> tuple[str, tuple[ChatMessage, ...]]:
    model = DemoModel()
    await model.warm_up()
    inbound = tuple(TurnMessage(f"m{index}", text, datetime.now(UTC)) for index, text in enumerate(texts))
    request = TurnRequest("t", TurnTenant("ada", timezone="Asia/Tokyo"), "sms", inbound, MemoryJournal(), history)
    result = await Orchestrator(model, tools=load_plugins(["agents"]).tools).handle_message(request)
    await model.close()
    assert result.state is TurnState.DONE
    assert "only the demo model" in result.reply
    return result.reply, (*history, *result.history)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("What is 17 * 23?", "391\n"),
        ("calculate (2+3)^2 please", "25\n"),
        ("What time is it?", "in Asia/Tokyo (UTC+09:00)\n"),
        ("Hi there", "Ask me for the time"),
        ("My number is +1 415 555 0100", "I heard: My number is +1 415 555 0100"),
        ("", "demo model"),
    ],
)
async def test_it_answers_a_few_questions_with_the_real_tools_and_says_what_it_is(text: str, answer: str) -> None:
    reply, _ = await _say(text)
    assert answer in reply


async def test_messages_taken_together_are_all_answered_and_older_ones_are_not_again() -> None:
    reply, history = await _say("1 + 1", "2 + 2")
    assert reply.startswith("2\n4\n")
    reply, _ = await _say("Thanks", history=history)
    assert reply.startswith("I heard: Thanks\n")
