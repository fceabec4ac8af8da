"""The plan of a call, stored before it acts: a repeat after a crash does the same, and offers the same undo."""

from collections.abc import Awaitable, Callable
from typing import Any

from core.errors import ToolFailed
from core.tools.context import ToolExecutionContext

_PLANS = "planned_calls"
_MAX_PLANS = 20


async def plan_once(context: ToolExecutionContext, plan: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """Return the plan of this call. A repeat of the call, after a crash, gets its first plan."""
    storage, key = context.storage, context.idempotency_key
    try:
        stored = await storage.get(_PLANS, key)
    except ToolFailed:  # this assistant keeps nothing
        return await plan()
    if stored is not None and isinstance(stored.value, dict):
        return stored.value
    made = await plan()
    await storage.put(_PLANS, key, made)
    for old in (await storage.list(_PLANS))[:-_MAX_PLANS]:
        await storage.delete(_PLANS, old.key)
    return made
