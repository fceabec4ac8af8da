"""Rounds over rows of all people that are due."""

from collections.abc import Awaitable, Callable, Iterable

import asyncpg
import structlog

from core.errors import StoreUnavailable

_log = structlog.get_logger()


async def take_each(
    claimed: Iterable[asyncpg.Record], work: Callable[[asyncpg.Record], Awaitable[object]], failed: str
) -> None:
    """Do the work of each row, which is its ids. Raises `StoreUnavailable`.

    The function that claims the rows gives each a pause that grows with its attempts (`pause_after`).
    """
    for row in claimed:
        try:
            await work(row)
        except StoreUnavailable:
            raise
        except Exception:  # one that fails must not hold up the others: it comes again after its pause
            _log.exception(failed, **row)
