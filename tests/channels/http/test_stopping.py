"""A process that stops lets go of what lasts as long as somebody listens."""

import asyncio

import aiohttp
from aiohttp import WSCloseCode, web

from channels.http.app import build_app, serve
from tests.patience import PATIENCE


async def _yes() -> bool:
    return True


async def _listen(request: web.Request) -> web.WebSocketResponse:
    """Be somebody's WebSocket, who knows nothing of stops."""
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        await socket.send_str(message.data)
    return socket


async def test_a_websocket_is_told_that_we_go_and_nobody_waits_for_it() -> None:
    app = build_app([], ready=_yes, extra_routes=[web.get("/listen", _listen)])
    async with aiohttp.ClientSession() as session:
        async with serve(app, "127.0.0.1", 0) as port:
            socket = await session.ws_connect(f"http://127.0.0.1:{port}/listen", autoclose=False)
            await socket.send_str("hello")
            assert await socket.receive_str() == "hello"
            heard = asyncio.create_task(socket.receive())
        last = await asyncio.wait_for(heard, PATIENCE)
        await socket.close()
    assert (last.type, last.data) == (aiohttp.WSMsgType.CLOSE, WSCloseCode.GOING_AWAY)
