"""The summary of what is dropped from history: when it is written, what it costs, what is shown without one."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.budgets.types import NoBudget, OutOfMoney
from core.errors import ModelRejected
from core.hooks.hooks import Hook, HookContext
from core.journal.in_memory import MemoryJournal
from core.journal.types import StepKey
from core.json_types import Json
from core.llm.types import ChatMessage, Marker, ModelAnswer, ModelRequest, Role, TextSoFar, estimate_tokens
from core.loop.config import ReactLoopConfig
from core.loop.context_window import Messages
from core.loop.control import TurnMessage
from core.loop.conversation_state import ConversationState
from core.loop.result import Ended
from core.people.tenant import TurnTenant
from core.tools.tool import tool
from core.turns.orchestrator import Orchestrator
from core.turns.types import FromPerson, Kept, Place, TurnRequest, TurnWork
from tests.core.builders import FakeModel, Step, run_loop, says, user, wants
from tests.core.loop.test_context_window import MESSAGES, complaints
from tests.core.turns.test_orchestrator import NOW
from tests.examples import examples

SMALL = ReactLoopConfig(
    context_token_limit=600,
    max_history_messages=6,
    min_tool_result_chars=100,
    max_tool_result_chars=1000,
    llm_retry_base_delay=0.001,
)
LONG: Messages = tuple(
    user(f"question {number} " + "x" * 100) if number % 2 else ChatMessage(Role.ASSISTANT, f"answer {number}")
    for number in range(1, 41)
)


async def _turn(history: Messages, *script: Step, config: ReactLoopConfig = SMALL) -> tuple[FakeModel, Messages]:
    model = FakeModel(list(script))
    request = TurnRequest(
        TurnWork("turn", MemoryJournal()),
        TurnTenant("t"),
        Place("sms"),
        FromPerson((TurnMessage("m", "Now?", NOW),)),
        Kept(history),
    )
    result = await Orchestrator(model, config=config).handle_message(request)
    return model, tuple(ChatMessage.from_json(message.to_json()) for message in (*history, *result.history))


def told_only(messages: Messages) -> list[ChatMessage]:
    """Return messages without the turn's own context."""
    return [message for message in messages if message.marker is not Marker.CONTEXT]


async def test_it_can_be_switched_off() -> None:
    model, _ = await _turn(LONG, says("ok"), config=replace(SMALL, summarise_dropped=False))
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
    later = tuple(replace(message, text=f"later {message.text}") for message in LONG)
    model, history = await _turn((*history, *later), says("Second."), says("ok"))
    assert model.requests[0].messages[1].text.startswith("Before that: First.")
    [summary] = [message.text for message in told_only(model.last) if message.internal]
    assert summary == "[What was said before, in short: Second.]"


async def test_without_a_summary_history_is_still_dropped_and_shown_cut_short() -> None:
    shown: list[str] = []

    class Watch(Hook):
        async def reasoning_chunk(self, context: HookContext, so_far: TextSoFar) -> None:
            shown.append(so_far.whole)

    model = FakeModel([ModelRejected("no"), says("ok"), says("Sum."), says("ok")])
    short = "[Said after that, cut short:\nassistant: answer 36]"
    for expected in ([short], ["[What was said before, in short: Sum.]"]):
        request = TurnRequest(
            TurnWork("turn", MemoryJournal()),
            TurnTenant("t"),
            Place("sms"),
            FromPerson((TurnMessage("m", "Now?", NOW),)),
            Kept(LONG),
        )
        result = await Orchestrator(model, config=SMALL, hooks=[Watch()]).handle_message(request)
        assert result.reply == "ok"
        assert len(model.last) < 12
        assert [message.text for message in told_only(model.last) if message.internal] == expected
    assert shown == ["ok", "ok"]


type Plain = ModelAnswer | Exception | Callable[[ModelRequest], ModelAnswer]


def _given(step: Plain, request: ModelRequest) -> ModelAnswer:
    if isinstance(step, Exception):
        raise step
    return step if isinstance(step, ModelAnswer) else step(request)


class Counted:
    """A long conversation, turn by turn, with what its summaries cost."""

    def __init__(self, config: ReactLoopConfig) -> None:
        self.config = config
        self.history: Messages = ()
        self.calls = self.tokens = 0
        self.shown: list[str] = []
        """The texts of the last request."""

    async def turn(self, text: str, *steps: ModelAnswer, summary: Plain | None = None) -> None:
        """Run a turn over what a store would load of the history."""

        def answer(request: ModelRequest) -> ModelAnswer:
            if "older part of a conversation" in request.messages[0].text:
                self.calls += 1
                self.tokens += estimate_tokens(request.messages)
                return _given(summary or says(f"Summary {self.calls}."), request)
            self.shown = [message.text for message in request.messages]
            return left.pop(0)

        left = list(steps)
        model = FakeModel([answer] * 60)
        loaded = self.history[-(101 + len(self.history) % 100) :]
        message = TurnMessage(f"m{len(self.history)}", text, NOW)
        request = TurnRequest(
            TurnWork("turn", MemoryJournal()), TurnTenant("t"), Place("sms"), FromPerson((message,)), Kept(loaded)
        )
        orchestrator = Orchestrator(model, config=self.config, tools=[measure])
        result = await orchestrator.handle_message(request)
        self.history += tuple(ChatMessage.from_json(message.to_json()) for message in result.history)

    @property
    def dropped(self) -> int:
        """Count the messages that the model no longer sees."""
        shown = "\n".join(self.shown)
        return sum(message.text not in shown for message in self.history if not message.internal)


@tool(effect="read")
async def measure(number: int) -> str:
    """Measure something."""
    return f"{number}: " + "9" * 200


SIZES = ReactLoopConfig(context_token_limit=8_000, llm_retry_base_delay=0.001)


@pytest.mark.parametrize(
    ("config", "size"),
    [
        (ReactLoopConfig(), 60),
        (ReactLoopConfig(max_history_messages=300), 60),
        (SIZES, 600),
        (SIZES, 4_000),
        (SIZES, 0),
    ],
    ids=[
        "short ones, which fit",
        "more than are loaded",
        "ones that fill the context",
        "ones of which ten do not fit",
        "ones that are alike",
    ],
)
async def test_a_summary_costs_less_than_a_call_for_ten_dropped_messages(config: ReactLoopConfig, size: int) -> None:
    talk = Counted(config)
    for number in range(120):
        text = f"Question {number}: " + "x" * size if size else "Are you there?"
        await talk.turn(text, says(f"Answer {number}: " + "y" * size if size else "Yes."))
    dropped = len(talk.history) - 80 if not size else talk.dropped
    assert dropped >= 100
    assert 0 < talk.calls * 10 <= dropped, (talk.calls, dropped, talk.tokens)


async def test_a_summary_costs_less_than_a_call_for_ten_messages() -> None:
    talk = Counted(ReactLoopConfig())
    for number in range(40):
        asked: list[tuple[str, Json]] = [("measure", {"number": number * 10 + place}) for place in range(6)]
        calls = wants(*asked)
        await talk.turn(f"Question {number}", calls, calls, says(f"Answer {number}"))
    assert 0 < talk.calls * 10 <= len(talk.history) - 80
    unseen = [text for text in ("Question 0", "Answer 20") if text in "\n".join(talk.shown)]
    assert unseen == []


async def test_every_message_is_shown_whole_cut_short_or_was_summarised() -> None:
    summarised: list[str] = []

    def note(request: ModelRequest) -> ModelAnswer:
        summarised.append(request.messages[1].text)
        return says("Sum.")

    talk = Counted(replace(SIZES, max_history_messages=6))
    for number in range(60):
        await talk.turn(f"Question {number}!", says(f"Answer {number}!"), summary=note)
        seen = "\n".join([*talk.shown, *summarised])
        for earlier in range(number):
            assert f"Question {earlier}!" in seen, (earlier, number)
            assert f"Answer {earlier}!" in seen, (earlier, number)


async def test_a_summary_that_fails_loses_nothing_and_is_not_tried_at_once() -> None:
    talk = Counted(replace(SIZES, max_history_messages=6))
    broken: list[Plain] = [ModelRejected("no"), says(""), ModelAnswer(refusal="No.")]
    for number in range(60):
        await talk.turn(f"Question {number}!", says(f"Answer {number}!"), summary=broken[number % 3])
    assert 0 < talk.calls <= 120 // 10
    assert "Answer 58!" in "\n".join(talk.shown)
    assert any(text.startswith("[Said after that, cut short:") for text in talk.shown)
    kept: list[str] = []

    def note(request: ModelRequest) -> ModelAnswer:
        kept.append(request.messages[1].text)
        return says("At last.")

    for number in range(60, 70):
        await talk.turn(f"Question {number}!", says(f"Answer {number}!"), summary=note)
    assert "Question 20!" in kept[0], "what no summary covers is in the next one"
    assert any("At last." in text for text in talk.shown)


async def test_a_summary_without_money_is_left_out_and_nobody_is_asked_for_more() -> None:
    class Poor(NoBudget):
        """A budget that pays for answers alone."""

        async def reserve(self, key: StepKey, request: ModelRequest) -> None:
            if not request.use_tools:
                raise OutOfMoney("I stopped here.", more=Decimal(1))

    class Silent:
        """Nobody who could be asked."""

        pending = ()

        async def ask(self, asked: object) -> None:
            raise AssertionError(asked)

    result, model = await run_loop([says("ok")], config=SMALL, history=LONG, budget=Poor(), approval_requests=Silent())
    assert (result.ended, result.response, result.pending_approvals) == (Ended.ANSWERED, "ok", ())
    assert "[Said after that, cut short:" in "\n".join(message.text for message in model.last)


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
                TurnWork("t", MemoryJournal()),
                TurnTenant("t"),
                Place("sms"),
                FromPerson((TurnMessage("m", "Now?", NOW),)),
                Kept(history),
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
