"""The loop's logic over a scripted model in process."""

import asyncio
import threading

import pytest

from core import replies
from core.errors import ContextOverflow, LeaseLost, ModelAuthError, ModelUnavailable, StoreUnavailable, ToolFailed
from core.hooks.hooks import Decision, Hook, HookContext, PlannedCall, Rule, Verdict
from core.journal.in_memory import MemoryJournal
from core.journal.types import StepRecord, StepState
from core.json_types import Json
from core.llm.types import ModelAnswer, ModelRequest, Role
from core.loop.batches import AT_ONCE
from core.loop.config import ReactLoopConfig
from core.loop.loop import LoopFailed
from core.loop.result import Ended
from core.tools.context import ToolExecutionContext
from core.tools.tool import tool
from tests.core.builders import SYSTEM, FakeModel, run_loop, says, user, wants
from tests.eventually import never


@tool(effect="read")
async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(effect="read")
async def hang() -> str:
    """Never come back."""
    await never()
    return "never"


@tool(effect="read")
async def explode() -> str:
    """Raise."""
    raise RuntimeError("password=hunter2")


QUICK = ReactLoopConfig(tool_execution_timeout=0.1, llm_retry_base_delay=0.001)


class TestAnswers:
    async def test_a_plain_answer_costs_one_model_call(self) -> None:
        result, model = await run_loop([says("Hi")])
        assert (result.response, result.turns, result.ended) == ("Hi", 1, Ended.ANSWERED)
        assert len(model.requests) == 1
        assert [message.text for message in result.messages] == ["Hi"]
        assert result.token_usage.total == 110

    async def test_a_two_tool_message_costs_two_model_calls(self) -> None:
        result, model = await run_loop(
            [wants(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4}), beside="Let me see"), says("3 and 7")],
            [add],
        )
        assert result.response == "3 and 7"
        assert len(model.requests) == 2
        assert model.told() == ["3", "7"]
        assert [record.args_summary for record in result.tool_calls] == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
        assert all(record.success and record.token_attribution for record in result.tool_calls)
        assert [message.role for message in result.messages] == [
            Role.ASSISTANT,
            Role.TOOL,
            Role.TOOL,
            Role.ASSISTANT,
        ]

    async def test_one_tool_after_another_goes_on_to_the_second(self) -> None:
        result, model = await run_loop(
            [wants(("add", {"a": 1, "b": 2})), wants(("add", {"a": 3, "b": 4})), says("done")], [add]
        )
        assert (result.response, result.turns, len(model.requests)) == ("done", 3, 3)

    async def test_thinking_goes_back_unaltered_with_its_results(self) -> None:
        block = {"type": "thinking", "thinking": "hm", "signature": "s1"}
        first = wants(("add", {"a": 1, "b": 2}))
        first = ModelAnswer(first.text, first.tool_calls, ({**block},), first.usage, "fake")
        _, model = await run_loop([first, says("3")], [add])
        assert model.last[-2].thinking == (block,)

    async def test_an_empty_answer_is_asked_again_once_and_then_owned_up_to(self) -> None:
        result, model = await run_loop([says(" "), says("There")])
        assert (result.response, len(model.requests)) == ("There", 2)
        assert model.last[-1].text == replies.SAY_SOMETHING
        assert [message.text for message in result.messages] == ["There"]
        result, model = await run_loop([says(""), says("")])
        assert (result.response, result.ended) == (replies.NOTHING_SAID, Ended.EMPTY)

    async def test_out_of_turns_a_summary_without_tools_is_forced(self) -> None:
        again = [wants(("add", {"a": 1, "b": index})) for index in range(3)]
        result, model = await run_loop([*again, says("So far: 3")], [add], config=ReactLoopConfig(max_turns=3))
        assert (result.response, result.ended, result.turns) == ("So far: 3", Ended.MAX_TURNS, 4)
        assert [request.use_tools for request in model.requests] == [True, True, True, False]
        assert model.last[-1].text == replies.SUMMARISE
        assert replies.SUMMARISE not in [message.text for message in result.messages]

    async def test_a_token_budget_stops_the_turn_and_says_so(self) -> None:
        result, model = await run_loop(
            [wants(("add", {"a": 1, "b": 2})), says("never")], [add], config=ReactLoopConfig(max_tokens_budget=50)
        )
        assert (result.response, result.ended, len(model.requests)) == (
            replies.OUT_OF_TOKENS,
            Ended.BUDGET,
            1,
        )


class TestCalls:
    async def test_of_parallel_calls_one_may_hang_and_one_raise(self) -> None:
        result, model = await run_loop(
            [wants(("hang", {}), ("add", {"a": 1, "b": 2}), ("explode", {})), says("One of three")],
            [add, hang, explode],
            config=QUICK,
        )
        late, three, failed = model.told()
        assert late.startswith("hang gave no answer within 0.1 seconds.")
        assert three == "3"
        assert failed.startswith("explode failed with an internal error.")
        assert "hunter2" not in repr(model.requests)
        assert [record.success for record in result.tool_calls] == [False, True, False]

    @pytest.mark.parametrize(
        ("name", "arguments", "sentence"),
        [
            ("ad", {"a": 1}, "There is no tool named 'ad'. Did you mean add?"),
            ("add", {"a": 1}, "b is missing. It takes: a (required), b (required)."),
            ("add", '{"a": 1,', "are not valid JSON"),
            ("add", "[1]", "must be one JSON object"),
            ("add", {"a": 1, "b": "x"}, "b: Input should be a valid integer"),
        ],
    )
    async def test_wrong_calls_are_answered_with_what_is_right(self, name: str, arguments: str, sentence: str) -> None:
        result, model = await run_loop([wants((name, arguments)), says("Sorry")], [add])
        assert sentence in model.told()[0]
        assert result.response == "Sorry"

    async def test_calls_that_keep_failing_end_in_a_summary(self) -> None:
        failing = [wants(("explode", {})) for _ in range(3)]
        result, model = await run_loop([*failing, says("It does not work")], [explode])
        assert (result.ended, len(model.requests)) == (Ended.ERRORS, 4)

    async def test_a_tools_own_error_is_told_to_the_model(self) -> None:
        @tool
        async def lookup() -> str:
            """Look."""
            raise ToolFailed("The library is closed.")

        _, model = await run_loop([wants(("lookup", {})), says("Closed")], [lookup])
        assert model.told() == ["The library is closed."]

    async def test_calls_run_side_by_side_but_for_those_that_must_not(self) -> None:
        running: list[str] = []
        most = 0

        async def work(name: str) -> str:
            nonlocal most
            running.append(name)
            most = max(most, len(running))
            assert "alone" not in running or running == ["alone"]
            await asyncio.sleep(0.02)
            running.remove(name)
            return name

        @tool(effect="read")
        async def beside(name: str) -> str:
            """Work."""
            return await work(name)

        @tool(effect="read", parallel=False)
        async def alone() -> str:
            """Work alone."""
            return await work("alone")

        calls = [("beside", {"name": "a"}), ("beside", {"name": "b"}), ("alone", {}), ("beside", {"name": "c"})]
        _, model = await run_loop([wants(*calls), says("ok")], [beside, alone])  # type: ignore[arg-type]
        assert model.told() == ["a", "b", "alone", "c"]
        assert most == 2
        most = 0
        config = ReactLoopConfig(parallel_tools=False)
        await run_loop([wants(*calls[:2]), says("ok")], [beside], config=config)  # type: ignore[arg-type]
        assert most == 1

    async def test_of_many_calls_some_run_side_by_side(self) -> None:
        running = most = 0

        @tool(effect="read")
        async def beside(name: str) -> str:
            """Work."""
            nonlocal running, most
            running += 1
            most = max(most, running)
            for _ in range(3 * AT_ONCE):
                await asyncio.sleep(0)
            running -= 1
            return name

        names = [str(number) for number in range(2 * AT_ONCE + 1)]
        calls: list[tuple[str, Json]] = [("beside", {"name": name}) for name in names]
        _, model = await run_loop([wants(*calls), says("ok")], [beside])
        assert model.told() == names
        assert most == AT_ONCE

    async def test_an_ordinary_function_that_hangs_is_left_and_said_to_be_running(self) -> None:
        go_on = threading.Event()

        @tool(effect="read", timeout=0.05)
        def slow() -> str:
            """Block."""
            go_on.wait()
            return "late"

        _, model = await run_loop([wants(("slow", {})), says("ok")], [slow])
        go_on.set()
        assert "may still be running" in model.told()[0]

    async def test_promise_5_a_once_tool_failing_midway_is_unknown_and_not_repeated(self) -> None:
        ran = 0

        @tool
        async def pay(amount: int) -> str:
            """Pay."""
            nonlocal ran
            ran += 1
            raise ConnectionResetError("peer")

        result, model = await run_loop(
            [wants(("pay", {"amount": 5})), wants(("pay", {"amount": 5})), says("Not sure")], [pay]
        )
        first, second = model.told()
        assert "outcome of this call is unknown" in first
        assert second.startswith("Not run: an earlier call with the same arguments")
        assert ran == 1
        assert result.response == "Not sure"

    async def test_an_idempotent_call_that_is_tried_again_keeps_its_key(self) -> None:
        keys: list[str] = []

        @tool(effect="idempotent")
        async def book(day: str, context: ToolExecutionContext) -> str:
            """Book."""
            keys.append(context.idempotency_key)
            if len(keys) == 1:
                raise ConnectionResetError("peer")
            return "booked"

        script = [wants(("book", {"day": "Monday"})), wants(("book", {"day": "Monday"})), says("ok")]
        await run_loop([*script[:2], wants(("book", {"day": "Friday"})), says("ok")], [book])
        assert keys[0] == keys[1] != keys[2]

    async def test_long_results_are_cut_at_once(self) -> None:
        @tool(effect="read")
        async def read() -> str:
            """Read."""
            return "line\n" * 1000

        result, model = await run_loop(
            [wants(("read", {})), says("ok")],
            [read],
            config=ReactLoopConfig(max_tool_result_chars=100, min_tool_result_chars=50),
        )
        assert len(model.told()[0]) < 130
        assert model.told()[0].endswith("[...truncated]")
        assert result.tool_calls[0].result_chars == 5000


class TestModelErrors:
    async def test_an_overflow_sends_fewer_messages_and_the_loop_goes_on_with_those(self) -> None:
        history = [user(f"m{index}") if index % 2 == 0 else says(f"a{index}").message() for index in range(30)]
        result, model = await run_loop(
            [ContextOverflow("too long"), wants(("add", {"a": 1, "b": 2})), says("ok")], [add], history=history
        )
        sizes = [len(request.messages) for request in model.requests]
        assert sizes[0] == 32
        assert sizes[1] <= 6
        assert sizes[2] == sizes[1] + 2
        assert model.requests[1].messages[0] == SYSTEM
        assert model.requests[1].messages[-1].text == "Hello"
        assert result.response == "ok"

    async def test_an_overflow_that_nothing_helps_ends_in_the_error(self) -> None:
        with pytest.raises(LoopFailed) as caught:
            await run_loop([ContextOverflow("x")])
        assert isinstance(caught.value.error, ContextOverflow)

    async def test_what_was_done_before_the_model_went_away_is_kept(self) -> None:
        with pytest.raises(LoopFailed) as caught:
            await run_loop([wants(("add", {"a": 1, "b": 2})), ModelAuthError("no")], [add])
        assert [message.text for message in caught.value.partial.messages] == ["", "3"]
        assert caught.value.partial.turns == 1

    async def test_a_fallback_after_a_tool_ran_does_not_run_it_again(self) -> None:
        _, model = await run_loop([wants(("add", {"a": 1, "b": 2})), ModelUnavailable("x"), says("ok")], [add])
        assert [len(request.messages) for request in model.requests] == [2, 4, 4]


class TestHooks:
    async def test_rules_deny_with_a_reason_and_a_rule_that_fails_denies(self) -> None:
        class NoOnes(Rule):
            async def evaluate(self, context: HookContext, call: PlannedCall) -> Verdict:
                if call.arguments.get("a") == 1:
                    return Verdict(Decision.DENY, "No ones today.")
                if call.arguments.get("a") == 2:
                    raise ValueError("broken")
                return Verdict(Decision.APPROVE if call.arguments.get("a") == 3 else Decision.ALLOW)

        calls = [("add", {"a": index, "b": 0}) for index in (1, 2, 3, 4)]
        _, model = await run_loop([wants(*calls), says("ok")], [add], hooks=[NoOnes()])  # type: ignore[arg-type]
        results = model.told()
        assert results[0] == "Not run: No ones today."
        assert "could not be checked" in results[1]
        assert "needs an approval" in results[2]
        assert results[3] == "4"

    async def test_hooks_apply_their_changes_in_order_and_a_failing_hook_is_skipped(self) -> None:
        seen: list[str] = []

        class Change(Hook):
            priority = 10

            async def pre_acting(self, context: HookContext, call: PlannedCall) -> PlannedCall:
                seen.append("first")
                return PlannedCall(call.id, call.name, {**call.arguments, "b": 40})

            async def post_acting(self, context: HookContext, call: PlannedCall, result: str) -> str:
                return result + "!"

        class Broken(Hook):
            async def pre_acting(self, context: HookContext, call: PlannedCall) -> PlannedCall:
                seen.append("second")
                raise ValueError("broken")

        _, model = await run_loop([wants(("add", {"a": 1, "b": 2})), says("ok")], [add], hooks=[Broken(), Change()])
        assert model.told() == ["41!"]
        assert seen == ["first", "second"]


class TestJournal:
    async def test_promise_5_a_lost_lease_stops_the_loop_at_once(self) -> None:
        class Lost(MemoryJournal):
            async def write(self, *records: StepRecord) -> None:
                if records[0].key.call_index:
                    raise LeaseLost("theirs")
                await super().write(*records)

        model = FakeModel([wants(("add", {"a": 1, "b": 1}), ("add", {"a": 1, "b": 2})), says("never")])
        with pytest.raises(LeaseLost):
            await run_loop(model, [add], journal=Lost())
        assert len(model.requests) == 1

    async def test_a_store_that_is_away_for_a_moment_costs_no_outcome(self) -> None:
        class Away(MemoryJournal):
            failures = 3

            async def write(self, *records: StepRecord) -> None:
                if records[0].key.call_index and records[0].state is StepState.DONE and self.failures:
                    self.failures -= 1
                    raise StoreUnavailable("away")
                await super().write(*records)

        ran = []

        @tool
        async def send() -> str:
            """Send."""
            ran.append(1)
            return "sent \ud800\x00."

        script = [wants(("send", {"x": "\ud800"})), wants(("send", {})), says("ok")]
        _, model = await run_loop(script, [send], journal=Away())
        assert model.told()[1] == "sent \ufffd."
        assert ran == [1]
        with pytest.raises(StoreUnavailable):
            await run_loop([wants(("send", {}))], [send], journal=Away(), config=ReactLoopConfig(journal_patience=0))

    async def test_changed_tools_are_told_to_the_model_at_take_over(self) -> None:
        journal = MemoryJournal()
        with pytest.raises(LoopFailed):
            await run_loop([wants(("add", {"a": 1, "b": 1})), ModelAuthError("x")], [add], journal=journal)
        result, model = await run_loop([says("ok")], [hang], journal=journal)
        assert result.response == "ok"
        assert [message.text for message in model.last][-2:] == ["2", replies.TOOLS_CHANGED]

    async def test_the_journal_holds_what_the_hooks_made_of_it(self) -> None:
        class Polite(Hook):
            async def post_reasoning(self, context: HookContext, answer: ModelAnswer) -> ModelAnswer:
                return says(answer.text + ", please")

        journal = MemoryJournal()
        first, _ = await run_loop([says("Wait")], journal=journal, hooks=[Polite()])
        again, model = await run_loop([], journal=journal)
        assert first.response == again.response == "Wait, please"
        assert model.requests == []


async def test_the_request_carries_the_configs_numbers() -> None:
    config = ReactLoopConfig(max_output_tokens=7, temperature=0.0, parallel_tools=False)
    _, model = await run_loop([says("x")], config=config)
    request: ModelRequest = model.requests[0]
    assert (request.max_output_tokens, request.temperature, request.parallel_tools) == (7, 0.0, False)
