"""The loop's own CPU: a message, two model calls, two tools, everything around the loop in process.

    uv run -m workbench.benchmarks.loop

The model answers at once from memory, the tools return a constant, the journal is in memory. The floor, in the same
run, is the same two answers and the same two tools awaited by hand: the difference is the loop's. The peer, if
installed, is pydantic-ai with the same answers and tools, and no journal. Figures are CPU time in milliseconds a
message. A machine that others use makes all of it slower by turns, the floor as well: "at rest" is the median of each
round's ratio to its own floor, times the best floor.
"""

import argparse
import asyncio
import gc
import logging
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

import structlog

from abilities.judge.checks import CheckingJudge
from core.clock import Clock
from core.hooks.hooks import Hook, HookContext, Hooks
from core.journal.in_memory import MemoryJournal
from core.llm.types import ChatMessage, ModelAnswer, ModelLayer, ModelRequest, Role, TokenUsage, ToolCall
from core.loop.config import ReactLoopConfig
from core.loop.loop import ReactLoop
from core.loop.reasoning import ModelCaller
from core.loop.scope import LoopTask, TurnScope
from core.tools.context import NO_WEB, ToolExecutionContext
from core.tools.tool import tool
from core.tools.toolbox import ToolRegistry
from onevalet.testing import MemoryCredentials

CALLS = ModelAnswer(
    tool_calls=(ToolCall("c1", "weather", '{"city": "Paris"}'), ToolCall("c2", "calendar", '{"day": "Monday"}')),
    usage=TokenUsage(400, 40, cost=0.001),
    model="stub",
    finish_reason="tool_calls",
)
SAYS = ModelAnswer("It is sunny in Paris, and Monday is free.", usage=TokenUsage(500, 20, cost=0.001), model="stub")
MESSAGES = (
    ChatMessage(Role.SYSTEM, "You are a personal assistant. " * 20),
    *(ChatMessage(role, f"Message {n} of before.") for n in range(5) for role in (Role.USER, Role.ASSISTANT)),
    ChatMessage(Role.USER, "What is the weather in Paris, and what do I have on Monday?"),
)


@tool(effect="read")
async def weather(city: str) -> str:
    """Tell the weather in a city."""
    return "sunny"


@tool(effect="read")
async def calendar(day: str) -> str:
    """Return the events of a day."""
    return "free"


class StubModel:
    """Answer from memory, by whether there are results yet."""

    layers: Sequence[ModelLayer] = (ModelLayer("stub"),)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return the calls first, then the answer."""
        return SAYS if request.messages[-1].role is Role.TOOL else CALLS

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


def by_loop(hooks: Sequence[Hook]) -> Callable[[], Awaitable[object]]:
    """Return a function that handles a message as the product does."""
    config = ReactLoopConfig(llm_streaming=False)
    loop = ReactLoop(ModelCaller(StubModel(), config))
    tools = ToolRegistry([weather, calendar])
    where = HookContext("turn", "tenant", "terminal")

    async def one() -> object:
        scope = TurnScope(where, MemoryJournal(), _context, config, Hooks(hooks))
        return await loop.run(LoopTask(scope, MESSAGES, tools))

    return one


async def by_hand() -> object:
    """Do the same with nothing around it."""
    model = StubModel()
    context = _context("weather", "key")
    first = await model.answer(ModelRequest(MESSAGES))
    results = [
        ChatMessage(Role.TOOL, await weather.run({"city": "Paris"}, context), tool_call_id="c1"),
        ChatMessage(Role.TOOL, await calendar.run({"day": "Monday"}, context), tool_call_id="c2"),
    ]
    return (await model.answer(ModelRequest((*MESSAGES, first.message(), *results)))).text


async def measure(
    works: Mapping[str, Callable[[], Awaitable[object]]], rounds: int, times: int
) -> dict[str, list[float]]:
    """Return the CPU of a run of each, in milliseconds, round by round, in turns: a disturbance affects all."""
    timings: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds + 1):
        for name, work in works.items():
            gc.collect()
            began = time.process_time()
            for _ in range(times):
                await work()
            timings[name].append((time.process_time() - began) / times * 1000)
    return {name: figures[1:] for name, figures in timings.items()}


def by_peer() -> Callable[[], Awaitable[object]] | None:
    """Return the same function with pydantic-ai; None if it is not installed."""
    try:
        from pydantic_ai import Agent
        from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
        from pydantic_ai.models.function import AgentInfo, FunctionModel
    except ImportError:
        return None

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        if any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
            return ModelResponse([TextPart(SAYS.text)])
        return ModelResponse([ToolCallPart(call.name, call.arguments, call.id) for call in CALLS.tool_calls])

    agent = Agent(FunctionModel(answer), tools=[weather.fn, calendar.fn])

    async def one() -> object:
        return (await agent.run(MESSAGES[-1].text)).output

    return one


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m workbench.benchmarks.loop")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--times", type=int, default=50, help="messages in a round")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    works = {
        "floor: the same awaited by hand": by_hand,
        "loop": by_loop([]),
        "loop with the judge": by_loop([CheckingJudge(max_repeated=3, max_idle=4)]),
    }
    if peer := by_peer():
        works["peer: pydantic-ai"] = peer
    timings = asyncio.run(measure(works, options.rounds, options.times))
    floor = next(iter(timings.values()))
    sys.stdout.write(f"{'':<32}  {'at rest':>10}  {'median':>10}  {'best':>10}  {'x the floor':>11}\n")
    for name, figures in timings.items():
        ratio = statistics.median(figure / below for figure, below in zip(figures, floor, strict=True))
        sys.stdout.write(
            f"{name:<32}  {ratio * min(floor):7.4f} ms  {statistics.median(figures):7.4f} ms"
            f"  {min(figures):7.4f} ms  {ratio:11.1f}\n"
        )


def _context(name: str, key: str) -> ToolExecutionContext:
    return ToolExecutionContext(
        tenant_id="tenant",
        turn_id="turn",
        idempotency_key=key,
        clock=_CLOCK,
        credentials=_CREDENTIALS,
        http=_HTTP,
        log=_LOG,
    )


_CLOCK, _CREDENTIALS, _HTTP, _LOG = Clock(), MemoryCredentials(), NO_WEB, structlog.get_logger()

if __name__ == "__main__":
    main()
