"""The order in which the calls of a model answer run, and which run side by side."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from datetime import datetime
from typing import Any

from core.errors import Halted
from core.llm.types import ToolCall
from core.tools.tool import AnyTool

AT_ONCE = 8
"""Calls of an answer that run at once: those of a person's turns leave connections for other people's tools."""

type Numbered = tuple[int, ToolCall]
"""A call with its number in the model's answer, from 1."""


def batches(
    calls: Sequence[ToolCall],
    approved_at: Callable[[int], datetime | None],
    tool_of: Callable[[str], AnyTool | None],
    *,
    parallel: bool,
) -> list[list[Numbered]]:
    """Return the calls of an answer in batches, each of which runs at once: of up to `AT_ONCE` calls.

    Approved calls come first, each alone, in the order of their approval; a call of a tool with `parallel=False` runs
    alone too.
    """
    numbered = list(enumerate(calls, start=1))
    moments = {number: approved_at(number) for number, _ in numbered}
    approved = [(moment, item) for item in numbered if (moment := moments[item[0]])]
    first = [item for _, item in sorted(approved, key=lambda pair: (pair[0], pair[1][0]))]
    made: list[list[Numbered]] = [[item] for item in first]
    together = False
    for item in numbered:
        if item in first:
            continue
        tool = tool_of(item[1].name)
        alone = not parallel or (tool is not None and not tool.parallel)
        if together and not alone and len(made[-1]) < AT_ONCE:
            made[-1].append(item)
        else:
            made.append([item])
        together = not alone
    return made


async def side_by_side[T](calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Await calls; a halt is raised once the calls beside it have ended, since they have begun."""

    async def or_halt(call: Coroutine[Any, Any, T]) -> T | Halted:
        try:
            return await call
        except Halted as halted:
            return halted

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(or_halt(call)) for call in calls]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from errors
    results = list[T]()
    for task in tasks:
        if isinstance(ended := task.result(), Halted):
            raise ended
        results.append(ended)
    return results
