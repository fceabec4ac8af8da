"""The optional summary of what is dropped from history."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from core.errors import ModelRejected
from core.hooks.hooks import Hook, HookContext
from core.journal.in_memory import MemoryJournal
from core.llm.types import ChatMessage, Marker, ModelRequest, Role, TextSoFar
from core.loop.config import ReactLoopConfig
from core.loop.context_window import Messages
from core.loop.control import TurnMessage
from core.loop.conversation_state import ConversationState
from core.people.tenant import TurnTenant
from core.turns.orchestrator import Orchestrator
from core.turns.types import TurnRequest
from tests.core.builders import FakeModel, Step, says, user
from tests.core.loop.test_context_window import MESSAGES, complaints
from tests.core.turns.test_orchestrator import NOW
from tests.examples import examples

SMALL = ReactLoopConfig(
    context_token_limit=600,
    max_history_messages=6,
    min_tool_result_chars=100,
    max_tool_result_chars=1000,
    summarise_dropped=True,
    llm_retry_base_delay=0.001,
)
LONG: Messages = tuple(
    user(f"question {number} " + "x" * 100) if number % 2 else ChatMessage(Role.ASSISTANT, f"answer {number}")
    for number in range(1, 41)
)


async def _turn(history: Messages, *script: Step, config: ReactLoopConfig = SMALL) -> tuple[FakeModel, Messages]:
    model = FakeModel(list(script))
    request = TurnRequest("turn", TurnTenant("t"), "sms", (TurnMessage("m", "Now?", NOW),), MemoryJournal(), history)
    result = await Orchestrator(model, config=config).handle_message(request)
    return model, tuple(ChatMessage.from_json(message.to_json()) for message in (*history, *result.history))


def told_only(messages: Messages) -> list[ChatMessage]:
    """Return messages without the turn's own context."""
    return [message for message in messages if message.marker is not Marker.CONTEXT]


async def test_it_is_off_by_default() -> None:
    model, _ = await _turn(LONG, says("ok"), config=ReactLoopConfig(context_token_limit=600, max_history_messages=6))
    assert len(model.requests) == 1
    assert not any(message.internal for message in told_only(model.last))


async def test_dropped_history_is_summarised_and_the_summary_is_reused_next_turn() -> None:
    model, history = await _turn(LONG, says("They asked 17 questions."), says("ok"))
    asked, answered = model.requests
    assert not asked.use_tools
    assert "\nassistant: answer 34\nuser: question 35 x" in asked.messages[1].text
    assert answered.messages[1].text == "[What was said before, in short: They asked 17 questions.]"
    assert answered.messages[2].text.startswith("question")
    assert answered.messages[-1].text == "Now?"
    state = ConversationState.of(history)
    assert state.summary == "They asked 17 questions."
    model, _ = await _turn(history, says("ok"))
    assert len(model.requests) == 1
    assert model.last[1].text.endswith("They asked 17 questions.]")
    assert [message.text for message in told_only(model.last)[2:-2]] == [
        message.text for message in told_only(answered.messages)[2:]
    ]


async def test_a_second_summary_takes_up_the_first() -> None:
    _, history = await _turn(LONG, says("First."), says("ok"))
    model, history = await _turn((*history, *LONG), says("Second."), says("ok"))
    assert model.requests[0].messages[1].text.startswith("Before that: First.")
    [summary] = [message.text for message in told_only(model.last) if message.internal]
    assert summary == "[What was said before, in short: Second.]"


async def test_without_a_summary_history_is_still_dropped_and_none_is_shown() -> None:
    shown: list[str] = []

    class Watch(Hook):
        async def reasoning_chunk(self, context: HookContext, so_far: TextSoFar) -> None:
            shown.append(so_far.whole)

    model = FakeModel([ModelRejected("no"), says("ok"), says("Sum."), says("ok")])
    for expected in ([], ["[What was said before, in short: Sum.]"]):
        request = TurnRequest("turn", TurnTenant("t"), "sms", (TurnMessage("m", "Now?", NOW),), MemoryJournal(), LONG)
        result = await Orchestrator(model, config=SMALL, hooks=[Watch()]).handle_message(request)
        assert result.reply == "ok"
        assert len(model.last) < 12
        assert [message.text for message in told_only(model.last) if message.internal] == expected
    assert shown == ["ok", "ok"]


@examples(60)
@given(st.lists(MESSAGES, max_size=30), st.lists(MESSAGES, max_size=15))
def test_no_summary_breaks_a_conversation(before: list[ChatMessage], between: list[ChatMessage]) -> None:
    async def turns() -> list[ModelRequest]:
        asked: list[ModelRequest] = []
        history: Messages = tuple(before)
        for more in ((), between, ()):
            model = FakeModel([lambda _: says("Sum.")] * 9)
            history = (*history, *more)
            request = TurnRequest(
                "t", TurnTenant("t"), "sms", (TurnMessage("m", "Now?", NOW),), MemoryJournal(), history
            )
            result = await Orchestrator(model, config=SMALL).handle_message(request)
            history = (*history, *result.history)
            asked += [request for request in model.requests if request.use_tools]
        return asked

    requests = asyncio.run(turns())
    assert len(requests) == 3
    for request in requests:
        assert complaints(request.messages) == []
        assert request.messages[0].role is Role.SYSTEM
        assert request.messages[-1].text == "Now?"
        assert sum(message.text.startswith("[What was said before") for message in request.messages) <= 1
