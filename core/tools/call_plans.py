"""What a call is to do, stored before it does it: a repeat after a crash does the same, and offers the same undo."""

from collections.abc import Awaitable, Callable
from typing import Any

from core.errors import ToolFailed
from core.tools.context import ToolExecutionContext

_PLANS = "planned_calls"
_MAX_PLANS = 20


async def plan_once(context: ToolExecutionContext, plan: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """Return what this call is to do. A repeat of the call, after a crash, gets what it planned at first."""
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
