"""A stop while a model is asked cuts the call off; a tool that has begun is awaited."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from core.budgets.types import NoBudget
from core.errors import ModelUnavailable
from core.hooks.hooks import HookContext
from core.hooks.judge import Judge, Judgement, Trail
from core.journal.in_memory import MemoryJournal
from core.journal.types import StepKey
from core.llm.types import ModelAnswer, ModelRequest, Role, TokenUsage
from core.loop.config import ReactLoopConfig
from core.loop.context_window import Messages
from core.loop.control import CutOff, InterruptSignal, TurnMessage
from core.loop.result import Ended, ReactLoopResult
from core.tools.tool import tool
from tests.core.builders import run_loop, says, wants


@dataclass
class Control:
    """A control whose stop is told by its signal alone."""

    signal: InterruptSignal = field(default_factory=InterruptSignal)

    async def stopped(self) -> str | None:
        return None

    async def absorb(self) -> Sequence[TurnMessage]:
        return ()


@dataclass
class Hanging:
    """Work that never ends, and tells when it has begun and when it was cut off."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    cut: bool = False

    async def __call__(self, *_: object) -> ModelAnswer:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cut = True
            raise
        raise AssertionError


class SlowJudge(Judge):
    """A judge that hangs over its rating."""

    def __init__(self, hang: Hanging) -> None:
        self.hang = hang

    async def rate_answer(
        self, context: HookContext, messages: Messages, trail: Trail, answer: ModelAnswer
    ) -> Judgement:
        await self.hang()
        raise AssertionError


class RecordedBudget(NoBudget):
    """Notes what becomes of what was reserved."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    async def reserve(self, key: StepKey, request: ModelRequest) -> None:
        self.noted.append("reserved")

    async def settle(self, key: StepKey, usage: TokenUsage) -> None:
        self.noted.append(f"settled at {usage.cost}")

    async def release(self, key: StepKey) -> None:
        self.noted.append("released")


@asynccontextmanager
async def stopped_once(begun: asyncio.Event, control: Control, words: str = "") -> AsyncIterator[None]:
    async def stop() -> None:
        await begun.wait()
        control.signal.set(words)

    stopping = asyncio.create_task(stop())
    yield
    await stopping


@pytest.mark.parametrize(("words", "answer"), [("", "Stopped."), ("wrong person", "Stopped: wrong person")])
async def test_a_model_that_hangs_is_cut_off(words: str, answer: str) -> None:
    hang, control, budget, journal = Hanging(), Control(), RecordedBudget(), MemoryJournal()
    async with stopped_once(hang.begun, control, words):
        result, _ = await run_loop([hang], control=control, budget=budget, journal=journal)
    assert (result.ended, result.response, hang.cut) == (Ended.INTERRUPTED, answer, True)
    assert budget.noted == ["reserved", "settled at None"], "what the provider may bill is paid for"
    assert not await journal.recorded()


async def test_a_pause_before_the_next_try_is_cut_off() -> None:
    control, failed = Control(), asyncio.Event()

    def fail(_: ModelRequest) -> ModelAnswer:
        failed.set()
        raise ModelUnavailable("away")

    async with stopped_once(failed, control):
        result, model = await run_loop([fail], control=control, config=ReactLoopConfig(llm_retry_base_delay=10))
    assert (result.ended, len(model.requests)) == (Ended.INTERRUPTED, 1)


async def test_a_model_that_hangs_is_cut_off_for_what_interrupts_it() -> None:
    hang, control, budget = Hanging(), Control(), RecordedBudget()

    async def interrupt() -> None:
        await hang.begun.wait()
        control.signal.set(None, superseded=False)
        control.signal.set(None, superseded=True)
        control.signal.set("too late")

    interrupting = asyncio.create_task(interrupt())
    result, _ = await run_loop([hang], control=control, budget=budget)
    await interrupting
    assert (result.ended, result.response, hang.cut) == (Ended.SUPERSEDED, "", True)
    assert budget.noted == ["reserved", "settled at None"]


async def test_a_judge_that_hangs_is_cut_off() -> None:
    hang, control = Hanging(), Control()
    async with stopped_once(hang.begun, control):
        result, _ = await run_loop([says("It is seven")], control=control, hooks=[SlowJudge(hang)])
    assert (result.ended, result.response, hang.cut) == (Ended.INTERRUPTED, "Stopped.", True)


async def test_a_tool_that_has_begun_ends_first_and_nothing_is_asked_after_it() -> None:
    control, ended = Control(), False

    @tool
    async def act() -> str:
        """Act."""
        nonlocal ended
        control.signal.set("")
        await asyncio.sleep(0.01)
        ended = True
        return "acted"

    result, model = await run_loop([wants(("act", {})), says("never")], [act], control=control)
    assert ended
    assert (result.ended, len(model.requests)) == (Ended.INTERRUPTED, 1)
    assert _roles(result) == [Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]


async def test_a_time_limit_inside_is_not_taken_for_a_stop() -> None:
    signal = InterruptSignal()
    with pytest.raises(TimeoutError):
        async with signal.cuts_off(), asyncio.timeout(0):
            await asyncio.Event().wait()
    signal.set("enough")
    signal.set("again")
    with pytest.raises(CutOff) as cut:
        async with signal.cuts_off():
            raise AssertionError
    assert cut.value.words == "enough"


def _roles(result: ReactLoopResult) -> list[Role]:
    return [message.role for message in result.messages]
