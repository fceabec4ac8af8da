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
    """Renew at a third of the lease; when it is lost, the body is cancelled and `LeaseLost` is raised.

    While the database is away nobody else can take the lease either, so the work goes on: its next write
    waits for the database, and is refused there if somebody was quicker.
    """
    body = asyncio.current_task()
    lost = False

    async def keep() -> None:
        nonlocal lost
        while True:
            await asyncio.sleep(lease.total_seconds() / 3)
            try:
                held = await renew()
            except StoreUnavailable:
                _log.warning("lease_not_renewed")
                continue
            except Exception:
                # The outermost loop of renewing: a keeper that dies silently would lose the lease unseen.
                _log.exception("lease_not_renewed")
                continue
            if not held:
                lost = True
                if body is not None:
                    body.cancel()
                return

    keeper = asyncio.create_task(keep(), name="lease")
    try:
        yield
    except asyncio.CancelledError:
        # When something else cancelled the body too, that stands.
        if lost and body is not None and body.uncancel() == 0:
            raise LeaseLost from None
        raise
    finally:
        keeper.cancel()
        await asyncio.wait([keeper])
