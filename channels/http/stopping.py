"""Tell answers that last as long as somebody listens that the process stops: it would wait for them."""

import asyncio

from aiohttp import web

_STOPPING = web.AppKey("stopping", asyncio.Event)


def note_stop(app: web.Application, stopping: asyncio.Event | None = None) -> None:
    """Note when the application stops; `stopping` is set then."""
    stopping = app[_STOPPING] = stopping or asyncio.Event()

    async def note(_: web.Application) -> None:
        stopping.set()

    app.on_shutdown.append(note)


async def stops_within(request: web.Request, seconds: float) -> bool:
    """Wait for a while, or until the application stops; return whether it does."""
    try:
        async with asyncio.timeout(seconds):
            await request.app[_STOPPING].wait()
    except TimeoutError:
        return False
    return True
