"""What the model may do with habits."""

from datetime import time

from onevalet import ToolExecutionContext, ToolRetry, tool
from tests.plugins.habits.habits import Habits


@tool(effect="idempotent")
async def add_habit(context: ToolExecutionContext, name: str, remind_at: str = "") -> str:
    """Keep something that the person wants to do each day.

    Args:
        name: What it is, such as "stretch".
        remind_at: When to remind the person of it each day, as HH:MM; empty for never.
    """
    try:
        moment = time.fromisoformat(remind_at) if remind_at else None
    except ValueError as error:
        raise ToolRetry("`remind_at` is a time of the day, such as 07:30.") from error
    if not await context.service(Habits).add(name, moment, context.timezone):
        return "There are too many habits already."
    return f"Kept: {name}" + (f", with a reminder at {remind_at} each day." if moment else ".")


@tool(effect="idempotent")
async def habit_done(context: ToolExecutionContext, name: str) -> str:
    """Note that the person did one of their habits today.

    Args:
        name: The habit's name, as it was kept.
    """
    if not await context.service(Habits).done(name, context.timezone):
        raise ToolRetry(f"There is no habit {name!r}.")
    return f"Done today: {name}."
