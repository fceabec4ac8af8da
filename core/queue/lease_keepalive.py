"""Keeping a lease alive while work runs under it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import structlog

from core.errors import LeaseLost, StoreUnavailable

_log = structlog.get_logger()


@asynccontextmanager
async def kept_alive(renew: Callable[[], Awaitable[bool]], lease: timedelta) -> AsyncIterator[None]:
    """Renew at a third of the lease; when it is lost, cancel the body and raise `LeaseLost`.

    While the database is away nobody else can take the lease either, so the work continues: its next write
    waits for the database, and is refused there if another worker has claimed the lease.
    """
    body = asyncio.current_task()
    lost = False

    async def repeat() -> None:
        nonlocal lost
        while True:
            await asyncio.sleep(lease.total_seconds() / 3)
            try:
                held = await renew()
            except StoreUnavailable:
                _log.warning("lease_not_renewed")
                continue
            except Exception:
                # The outermost handler of renewing: a renewal that dies silently would lose the lease unnoticed.
                _log.exception("lease_not_renewed")
                continue
            if not held:
                lost = True
                if body is not None:
                    body.cancel()
                return

    renewal = asyncio.create_task(repeat(), name="lease")
    try:
        yield
    except asyncio.CancelledError:
        # If something else cancelled the body too, that cancellation stays.
        if lost and body is not None and body.uncancel() == 0:
            raise LeaseLost from None
        raise
    finally:
        renewal.cancel()
        await asyncio.wait([renewal])
