"""Hooks: when each is called, what it may change, and what happens when it fails."""

import pytest

from core.errors import ModelAuthError
from core.hooks.hooks import Hook, HookContext, Messages, PlannedCall, Rule, StepReport, Verdict
from core.journal.in_memory import MemoryJournal
from core.json_types import JsonObject
from core.llm.types import ChatMessage, ModelAnswer, Role, TextSoFar
from core.loop.control import TurnMessage
from core.loop.loop import LoopFailed
from core.people.tenant import TurnTenant
from core.tools.context import ToolExecutionContext
from core.tools.results import CallResult
from core.tools.tool import tool
from core.turns.orchestrator import Orchestrator
from core.turns.types import FromPerson, Place, TurnRequest, TurnWork
from tests.core.builders import FakeModel, run_loop, says, wants
from tests.core.turns.test_orchestrator import NOW


@tool(effect="read")
async def add(a: int, b: int, context: ToolExecutionContext) -> int:
    """Add."""
    await context.progress("carrying")
    return a + b


class Witness(Hook):
    """Note every moment, with its step."""

    def __init__(self, name: str = "", priority: int = 100) -> None:
        self.name = name
        self.priority = priority
        self.seen: list[str] = []

    def note(self, context: HookContext, moment: str) -> None:
        self.seen.append(f"{moment} {context.step}")

    async def pre_call(self, context: HookContext, messages: Messages) -> None:
        self.note(context, "pre_call")

    async def prepare_step(self, context: HookContext, messages: Messages) -> Messages:
        self.note(context, "prepare_step")
        return messages

    async def pre_reasoning(self, context: HookContext, messages: Messages) -> Messages:
        self.note(context, "pre_reasoning")
        return messages

    async def reasoning_chunk(self, context: HookContext, so_far: TextSoFar) -> None:
        self.note(context, f"reasoning_chunk({so_far.text})")

    async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
        self.note(context, "post_reasoning")
        return answer

    async def pre_acting(self, context: HookContext, call: PlannedCall) -> PlannedCall:
        self.note(context, "pre_acting")
        return call

    async def acting_chunk(self, context: HookContext, call: PlannedCall, text: str) -> None:
        self.note(context, f"acting_chunk({text})")

    async def post_acting(self, context: HookContext, call: PlannedCall, result: str) -> str:
        self.note(context, "post_acting")
        return result

    async def call_finished(self, context: HookContext, result: CallResult) -> None:
        self.note(context, "call_finished")

    async def step_finished(self, context: HookContext, report: StepReport) -> None:
        self.note(context, f"step_finished({report.usage.total}/{report.so_far.total})")

    async def post_call(self, context: HookContext, reply: str) -> str:
        self.note(context, "post_call")
        return reply

    async def on_error(self, context: HookContext, error: Exception) -> None:
        self.note(context, f"on_error({type(error).__name__})")


async def test_every_moment_comes_in_its_order() -> None:
    witness = Witness()
    model = FakeModel([wants(("add", {"a": 1, "b": 2})), says("3")])
    request = TurnRequest(
        TurnWork("turn", MemoryJournal()), TurnTenant("t"), Place("sms"), FromPerson((TurnMessage("m", "Add", NOW),))
    )
    await Orchestrator(model, tools=[add], hooks=[witness]).handle_message(request)
    assert witness.seen == [
        *("pre_call 0", "prepare_step 0", "pre_reasoning 0", "post_reasoning 0"),
        *("pre_acting 0", "acting_chunk(carrying) 0", "post_acting 0", "call_finished 0", "step_finished(110/110) 0"),
        *("prepare_step 1", "pre_reasoning 1", "reasoning_chunk(3) 1", "post_reasoning 1"),
        *("step_finished(110/220) 1", "post_call 0"),
    ]


async def test_an_error_is_seen() -> None:
    witness = Witness()
    with pytest.raises(LoopFailed):
        await run_loop([ModelAuthError("x")], hooks=[witness])
    assert witness.seen[-1] == "on_error(ModelAuthError) 0"


async def test_a_take_over_calls_none_of_them_for_what_was_done() -> None:
    journal = MemoryJournal()
    with pytest.raises(LoopFailed):
        await run_loop([wants(("add", {"a": 1, "b": 2})), ModelAuthError("x")], [add], journal=journal)
    witness = Witness()
    await run_loop([says("3")], [add], journal=journal, hooks=[witness])
    assert witness.seen[0] == "prepare_step 1"


async def test_what_is_prepared_stays_and_what_is_changed_for_one_call_does_not() -> None:
    class Prepare(Hook):
        async def prepare_step(self, context: HookContext, messages: Messages) -> Messages:
            return (*messages, ChatMessage(Role.USER, f"step {context.step}", internal=True))

        async def pre_reasoning(self, context: HookContext, messages: Messages) -> Messages:
            return (*messages, ChatMessage(Role.USER, f"once {context.step}", internal=True))

    result, model = await run_loop([wants(("add", {"a": 1, "b": 2})), says("3")], [add], hooks=[Prepare()])
    assert [message.text for message in model.last if message.internal] == ["step 0", "step 1", "once 1"]
    assert not any(message.internal for message in result.messages)


async def test_what_a_hook_breaks_is_repaired_before_it_is_sent() -> None:
    class Drop(Hook):
        async def prepare_step(self, context: HookContext, messages: Messages) -> Messages:
            return tuple(message for message in messages if message.role is not Role.TOOL)

        async def pre_reasoning(self, context: HookContext, messages: Messages) -> Messages:
            return tuple(message for message in messages if not message.tool_calls)

    _, model = await run_loop([wants(("add", {"a": 1, "b": 2})), says("3")], [add], hooks=[Drop()])
    assert [message.role for message in model.last] == [Role.SYSTEM, Role.USER]


async def test_the_lower_number_goes_first_in_any_given_order() -> None:
    class Add(Hook):
        def __init__(self, letter: str, priority: int) -> None:
            self.letter = letter
            self.priority = priority

        async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
            return ModelAnswer(answer.text + self.letter)

    result, _ = await run_loop([says("")], hooks=[Add("c", 300), Add("a", -1), Add("b", 100)])
    assert result.response == "abc"


async def test_one_that_fails_or_gives_nonsense_is_passed_over() -> None:
    class Broken(Witness):
        async def reasoning_chunk(self, context: HookContext, so_far: TextSoFar) -> None:
            raise ValueError("broken")

        async def step_finished(self, context: HookContext, report: StepReport) -> None:
            raise ValueError("broken")

        async def prepare_step(self, context: HookContext, messages: Messages) -> Messages:
            return None  # type: ignore[return-value]

        async def pre_acting(self, context: HookContext, call: PlannedCall) -> PlannedCall:
            return {"a": 1}  # type: ignore[return-value]

    result, model = await run_loop([wants(("add", {"a": 1, "b": 2})), says("3")], [add], hooks=[Broken()])
    assert (result.response, model.told()) == ("3", ["3"])


async def test_a_changed_call_keeps_its_id_and_name() -> None:
    class Sly(Hook):
        async def pre_acting(self, context: HookContext, call: PlannedCall) -> PlannedCall:
            return PlannedCall("other", "hang", {**call.arguments, "b": 5})

    _, model = await run_loop([wants(("add", {"a": 1, "b": 2})), says("6")], [add], hooks=[Sly()])
    assert model.told() == ["6"]


async def test_promise_9_what_a_rule_does_to_its_call_nobody_else_sees() -> None:
    seen: list[JsonObject] = []

    class Sly(Rule):
        """Change what every later hook, the card and the journal would take for the call."""

        priority = 1

        async def evaluate(self, context: HookContext, call: PlannedCall) -> Verdict:
            call.arguments["a"] = 100
            return Verdict()

        async def acting_chunk(self, context: HookContext, call: PlannedCall, text: str) -> None:
            call.arguments["a"] = 200

        async def post_acting(self, context: HookContext, call: PlannedCall, result: str) -> str:
            call.arguments["a"] = 300
            return result

    class Honest(Rule):
        async def evaluate(self, context: HookContext, call: PlannedCall) -> Verdict:
            seen.append(call.arguments)
            return Verdict()

        async def acting_chunk(self, context: HookContext, call: PlannedCall, text: str) -> None:
            seen.append(call.arguments)

        async def post_acting(self, context: HookContext, call: PlannedCall, result: str) -> str:
            seen.append(call.arguments)
            return result

    await run_loop([wants(("add", {"a": 1, "b": 2})), says("3")], [add], hooks=[Sly(), Honest()])
    assert seen == [{"a": 1, "b": 2}] * 3


async def test_a_hidden_parameter_cannot_be_given_by_the_model() -> None:
    fixed = add.with_preset(b=40)
    _, model = await run_loop(
        [wants(("add", {"a": 1, "b": 2})), wants(("add", {"a": 1})), says("41")],
        [fixed],
    )
    told, told_again = model.told()
    assert told == "41\n<for_assistant>Left out, being no parameters: b.</for_assistant>"
    assert told_again == "41"
    assert "b" not in model.requests[0].tools[0].parameters["properties"]  # type: ignore[operator]
    assert "context" not in model.requests[0].tools[0].parameters["properties"]  # type: ignore[operator]
