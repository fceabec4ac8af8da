"""How a check is asked: whatever goes wrong in it delays the turn."""

from collections.abc import Awaitable, Callable

import structlog

from core.errors import LeaseLost, StoreUnavailable, TurnDelayed
from core.turns.types import TurnRequest

_log = structlog.get_logger()


async def ask[Context, Answer](
    check: Callable[[TurnRequest, Context], Awaitable[Answer]], request: TurnRequest, context: Context
) -> Answer:
    """Ask one check. One that fails neither refuses nor lets pass: raises `TurnDelayed`."""
    try:
        return await check(request, context)
    except (LeaseLost, StoreUnavailable, TurnDelayed):
        raise
    except Exception as error:  # an extension may raise anything
        _log.exception("check_failed", turn=request.turn_id, check=type(check).__name__)
        raise TurnDelayed(f"a check could not tell: {type(error).__name__}") from error
