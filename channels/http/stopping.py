"""Notice of the process's stop for answers that last as long as their clients listen: it would wait for them."""

import asyncio
from contextlib import suppress
from weakref import WeakSet

from aiohttp import WSCloseCode, web

CLOSED_WITHIN = 2.0
"""Seconds in which the other end of a WebSocket must agree to its end."""
_STOPPING = web.AppKey("stopping", asyncio.Event)


def note_stop(app: web.Application, stopping: asyncio.Event | None = None) -> None:
    """Note when the application stops; `stopping` is set then, and every WebSocket is closed."""
    stopping = app[_STOPPING] = stopping or asyncio.Event()
    sockets = WeakSet[web.WebSocketResponse]()

    async def remember(_: web.Request, response: web.StreamResponse) -> None:
        if isinstance(response, web.WebSocketResponse):
            sockets.add(response)

    async def note(_: web.Application) -> None:
        stopping.set()
        await asyncio.gather(*map(_close, sockets))

    app.on_response_prepare.append(remember)
    app.on_shutdown.append(note)


async def _close(socket: web.WebSocketResponse) -> None:
    with suppress(TimeoutError, RuntimeError):  # the latter: it is being opened in this moment
        async with asyncio.timeout(CLOSED_WITHIN):
            await socket.close(code=WSCloseCode.GOING_AWAY)


async def stops_within(request: web.Request, seconds: float) -> bool:
    """Wait for a while, or until the application stops; return whether it does."""
    try:
        async with asyncio.timeout(seconds):
            await request.app[_STOPPING].wait()
    except TimeoutError:
        return False
    return True
