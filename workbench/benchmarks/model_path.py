"""The model's path: a turn of two model calls and two tools over HTTP, nothing stored, and its CPU cost.

    uv run -m workbench.benchmarks.model_path [--rounds 9] [--times 100]

A server in a process of its own speaks OpenAI's chat completions and answers at once: streamed in few chunks, streamed
in 200, or whole. Contestants, in turns: the floor (bare aiohttp, answers read by hand), litellm's `acompletion` by
hand, our loop with litellm making the calls, and our loop as it ships.

Figures are CPU milliseconds a turn of this process and all its threads (getrusage), medians of rounds with their range,
and turns a second with 32 in flight, by wall clock.
"""

import argparse
import asyncio
import gc
import json
import logging
import os
import resource
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

import aiohttp
import structlog

from core.hooks.hooks import HookContext
from core.journal.in_memory import MemoryJournal
from core.llm.types import ToolSpec
from core.loop.config import ReactLoopConfig
from core.loop.loop import ReactLoop
from core.loop.reasoning import ModelCaller
from core.loop.scope import LoopTask, TurnScope
from core.tools.tool import Tool
from core.tools.toolbox import ToolRegistry
from providers.models.chat_format import format_messages, format_tool
from providers.models.litellm_client import LiteLLMClient
from workbench.benchmarks.loop import MESSAGES, _context, calendar, weather
from workbench.benchmarks.model_server import DONE, running

type Turn = Callable[[], Awaitable[object]]

MODEL = "openai/scripted"
IN_FLIGHT = 32


async def main_async(options: argparse.Namespace, server: str) -> None:
    """Measure all shapes of answers, and print."""
    for shape in ("few", "many", "whole"):
        base = f"{server}/{shape}/v1"
        async with contestants(base, streamed=shape != "whole") as turns:
            await measure(shape, turns, options)


@asynccontextmanager
async def contestants(base: str, *, streamed: bool) -> Any:
    """Yield the ways to take a turn, by name."""
    variables = {"OPENAI_API_BASE": base, "OPENAI_BASE_URL": base, "OPENAI_API_KEY": "sk-bench"}
    async with aiohttp.ClientSession() as session:
        slow, direct = LiteLLMClient(MODEL, direct=False), LiteLLMClient(MODEL)
        await direct.warm_up()
        turns: dict[str, Turn] = {
            "floor: bare aiohttp": by_hand(session, base, streamed=streamed),
            "litellm alone": by_litellm(streamed=streamed),
            "ours, litellm's calls": by_loop(slow, streamed=streamed),
            "ours": by_loop(direct, streamed=streamed),
        }
        try:
            with patch.dict(os.environ, variables):
                yield turns
        finally:
            await slow.close()
            await direct.close()


def by_loop(client: LiteLLMClient, *, streamed: bool) -> Turn:
    """Return a turn of our loop."""
    config = ReactLoopConfig(llm_streaming=streamed)
    loop = ReactLoop(ModelCaller(client, config))
    tools = ToolRegistry([weather, calendar])
    where = HookContext("turn", "tenant", "terminal")

    async def one() -> object:
        scope = TurnScope(where, MemoryJournal(), _context, config)
        return await loop.run(LoopTask(scope, MESSAGES, tools))

    return one


def by_hand(session: aiohttp.ClientSession, base: str, *, streamed: bool) -> Turn:
    """Return the same turn over bare aiohttp, read as simply as can be."""

    async def ask(messages: list[Any]) -> tuple[str, list[Any]]:
        body = {"model": "scripted", "messages": messages, "tools": _TOOLS, "stream": streamed}
        async with session.post(f"{base}/chat/completions", json=body) as response:
            if not streamed:
                message = (await response.json())["choices"][0]["message"]
                return message["content"] or "", message.get("tool_calls") or []
            return _join(await response.read())

    return _turn_of(ask)


def by_litellm(*, streamed: bool) -> Turn:
    """Return the same turn over litellm's own call."""

    async def ask(messages: list[Any]) -> tuple[str, list[Any]]:
        import litellm  # imported at its use, since it takes seconds

        options: dict[str, Any] = {"stream_options": {"include_usage": True}} if streamed else {}
        response: Any = await litellm.acompletion(
            model=MODEL, messages=messages, tools=_TOOLS, stream=streamed, **options
        )
        if streamed:
            response = litellm.stream_chunk_builder([chunk async for chunk in response])
        message = response.choices[0].message
        return message.content or "", [call.model_dump() for call in message.tool_calls or ()]

    return _turn_of(ask)


def _turn_of(ask: Callable[[list[Any]], Awaitable[tuple[str, list[Any]]]]) -> Turn:
    """Return a turn that asks, runs the tools, and asks again."""

    async def one() -> object:
        messages: list[Any] = format_messages(MESSAGES, MODEL)
        _, calls = await ask(messages)
        await _run(messages, calls)
        return (await ask(messages))[0]

    return one


async def measure(shape: str, turns: Mapping[str, Turn], options: argparse.Namespace) -> None:
    """Print the cost of each: interleaved, so that a disturbance affects all."""
    cpu: dict[str, list[float]] = {name: [] for name in turns}
    rate: dict[str, list[float]] = {name: [] for name in turns}
    for turn in turns.values():
        if not str(await turn()):
            raise SystemExit("an empty answer")
    for _ in range(options.rounds):
        for name, turn in turns.items():
            times = options.times // 5 if "litellm" in name else options.times
            spent, a_second = await one_round(turn, times, times * 2)
            cpu[name].append(spent)
            rate[name].append(a_second or 0.0)
    sys.stdout.write(f"\n{_SHAPES[shape]}; load {os.getloadavg()[0]:.1f}\n")
    for name in turns:
        sys.stdout.write(
            f"  {name:<24} {statistics.median(cpu[name]):8.2f} ms CPU ({min(cpu[name]):.2f}-{max(cpu[name]):.2f})"
            f"  {statistics.median(rate[name]):8.0f} turns/s ({min(rate[name]):.0f}-{max(rate[name]):.0f})\n"
        )


async def one_round(turn: Turn, times: int, rated: int) -> tuple[float, float | None]:
    """Return CPU in ms a turn, in sequence, and the rate with many in flight, if it is to be measured."""
    gc.collect()
    began = _cpu()
    for _ in range(times):
        await turn()
    spent = (_cpu() - began) / times * 1000
    if not rated:
        return spent, None
    started = time.perf_counter()
    await at_once(turn, rated, IN_FLIGHT)
    return spent, rated / (time.perf_counter() - started)


async def at_once(turn: Turn, times: int, in_flight: int) -> list[float]:
    """Run `times` turns, `in_flight` at a time; return the seconds of each."""
    left, took = iter(range(times)), list[float]()

    async def one_after_the_other() -> None:
        for _ in left:
            began = time.perf_counter()
            await turn()
            took.append(time.perf_counter() - began)

    await asyncio.gather(*(one_after_the_other() for _ in range(in_flight)))
    return took


async def _run(messages: list[Any], calls: list[Any]) -> None:
    messages.append({"role": "assistant", "tool_calls": calls})
    for call in calls:
        tool = _BY_NAME[call["function"]["name"]]
        result = await tool.run(json.loads(call["function"]["arguments"]), _context(tool.spec.name, "key"))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def _join(stream: bytes) -> tuple[str, list[Any]]:
    text, calls = "", list[Any]()
    for line in stream.split(b"\n\n"):
        if not line or line == DONE:
            continue
        for choice in json.loads(line[6:])["choices"]:
            delta = choice["delta"]
            text += delta.get("content") or ""
            for call in delta.get("tool_calls") or ():
                if call.get("id"):
                    calls.append(call)
                else:
                    calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
    return text, calls


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


_BY_NAME: dict[str, Tool[..., Any]] = {"weather": weather, "calendar": calendar}
_TOOLS = [
    format_tool(ToolSpec(tool.spec.name, tool.spec.description, tool.spec.parameters)) for tool in (weather, calendar)
]
_SHAPES = {"few": "streamed, few chunks", "many": "streamed, 200 chunks", "whole": "not streamed"}


def main() -> None:
    """Start the server and measure."""
    parser = argparse.ArgumentParser(prog="python -m workbench.benchmarks.model_path")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--times", type=int, default=100, help="turns in a round; a fifth of it where litellm calls")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    with running() as server:
        asyncio.run(main_async(options, server))


if __name__ == "__main__":
    main()
