"""Judges: when a turn asks them, what it does with their advice, and what a take-over repeats."""

from core.hooks.hooks import HookContext, Messages
from core.hooks.judge import Judge, Judgement, Trail
from core.journal.in_memory import MemoryJournal
from core.journal.types import StepKind
from core.llm.types import ModelAnswer, Role, TokenUsage
from core.loop.result import Ended
from core.tools.tool import tool
from tests.core.builders import run_loop, says, wants


class Grumpy(Judge):
    """Never satisfied, at a price."""

    def __init__(self) -> None:
        self.asked = 0

    async def rate_answer(
        self, context: HookContext, messages: Messages, trail: Trail, answer: ModelAnswer
    ) -> Judgement:
        self.asked += 1
        return Judgement("bad", "Try harder.", TokenUsage(1, 1))


async def test_an_answer_is_sent_after_enough_advice_and_judging_is_charged() -> None:
    judge = Grumpy()
    result, model = await run_loop([says("a"), says("b"), says("c")], hooks=[judge])
    assert (result.response, result.ended, judge.asked) == ("c", Ended.ANSWERED, 3)
    assert result.token_usage.total == 3 * 110 + 3 * 2
    assert [message.text for message in model.last if message.role is Role.USER] == [
        *("Hello", "Try harder.", "Try harder."),
    ]


async def test_promise_5_a_takeover_reuses_the_judgements_already_made() -> None:
    journal = MemoryJournal()
    await run_loop([says("a"), says("b"), says("c")], hooks=[Grumpy()], journal=journal)
    rows = await journal.recorded()
    assert [row.kind for row in rows] == [StepKind.MODEL, StepKind.JUDGE] * 3
    kept = MemoryJournal([row for row in rows if (row.key.step, row.key.call_index) < (1, 1)])
    judge = Grumpy()
    result, model = await run_loop([says("c")], hooks=[judge], journal=kept)
    assert (result.response, judge.asked) == ("c", 2)
    assert [message.text for message in model.last[1:]] == ["Hello", "a", "Try harder.", "b", "Try harder."]


class Marking(Judge):
    """Advises nothing, and leaves a mark."""

    async def rate_answer(
        self, context: HookContext, messages: Messages, trail: Trail, answer: ModelAnswer
    ) -> Judgement:
        acts = ", ".join(
            f"{act.name} acted" if act.acted else f"{act.name} did not act" for step in trail for act in step
        )
        return Judgement("marked", mark=f"({acts})")


async def test_a_judgement_without_advice_leaves_its_mark_below_the_answer() -> None:
    @tool(effect="idempotent")
    async def keep() -> str:
        """Keep."""
        return "kept"

    @tool(effect="read")
    async def look() -> str:
        """Look."""
        return "seen"

    calls = wants(("keep", {}), ("look", {}), ("keep", {"odd": 1}))
    result, model = await run_loop([calls, says("All kept.")], [keep, look], hooks=[Marking()])
    assert result.response == "All kept.\n\n(keep acted, look did not act, keep did not act)"
    assert len(model.requests) == 2


async def test_a_judge_that_fails_is_passed_over() -> None:
    class Broken(Judge):
        async def rate_answer(
            self, context: HookContext, messages: Messages, trail: Trail, answer: ModelAnswer
        ) -> Judgement:
            raise RuntimeError("secret")

    result, _ = await run_loop([says("fine")], hooks=[Broken()])
    assert result.response == "fine"
