"""Serve an application on a free port of this machine, for as long as a block runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def serving(app: web.Application, patience: float = 60.0) -> AsyncIterator[str]:
    """Yield the application's origin. `patience`: seconds that its requests get at the end."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=patience)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
