"""The effects of a fault rule on a call: the provider's own trouble, or a fault on the way to it."""

import asyncio
import socket
import struct
from collections.abc import Callable

from aiohttp import web

from workbench.simulator.faults import FaultKind, Rule

type FaultAnswer = Callable[[Rule], web.StreamResponse]

HUGE = 20 * 1024 * 1024
"""Bytes of junk in the answer of a `huge` fault."""
_CHUNK = 64 * 1024
_PAGE = "<!doctype html><html><head><title>{0}</title></head><body><h1>{0}</h1></body></html>"
_DRIP_EVERY = 0.25

_IN_THE_PROVIDERS_WORDS = (FaultKind.RATE_LIMIT, FaultKind.SERVER_ERROR, FaultKind.SERVER_ERROR_AFTER)


async def misbehave(
    rule: Rule, request: web.Request, fault_answer: FaultAnswer, stopping: asyncio.Event
) -> web.StreamResponse | None:
    """Answer as the rule says, in the provider's words if it has any; None: the connection was reset."""
    kind = rule.kind
    if kind in _IN_THE_PROVIDERS_WORDS:
        return fault_answer(rule)
    if kind in (FaultKind.PAGE, FaultKind.PAGE_AFTER):
        return web.Response(status=rule.status, text=_PAGE.format(rule.status), content_type="text/html")
    if kind is FaultKind.EMPTY:
        return web.json_response({})
    if kind is FaultKind.REDIRECT:
        status = rule.status if 300 <= rule.status < 400 else 302
        return web.Response(status=status, headers={"Location": rule.location or str(request.url)})
    if kind is FaultKind.HUGE:
        return await _send_junk(request)
    if kind is FaultKind.DRIP:
        return await _drip(request, rule.seconds, stopping)
    if kind in (FaultKind.TIMEOUT_BEFORE, FaultKind.TIMEOUT_AFTER):
        await _hang(rule.seconds, stopping)
    abort(request)
    return None


def abort(request: web.Request) -> None:
    """End the connection with a reset, as a broken network does."""
    transport = request.transport
    if transport is None:
        return
    sock = transport.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


async def _send_junk(request: web.Request) -> web.StreamResponse | None:
    """Write 20 MB that look like the beginning of JSON, for as long as they are read."""
    answer = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(HUGE)})
    try:
        await answer.prepare(request)
        for _ in range(HUGE // _CHUNK):
            await answer.write(b"[" * _CHUNK)
    except (ConnectionError, asyncio.CancelledError):
        abort(request)
        return None
    return answer


async def _drip(request: web.Request, seconds: float, stopping: asyncio.Event) -> web.StreamResponse | None:
    """Write a byte now and then, and never the end."""
    answer = web.StreamResponse(headers={"Content-Type": "application/json"})
    try:
        await answer.prepare(request)
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while loop.time() < end and not stopping.is_set():
            await answer.write(b" ")
            await _hang(_DRIP_EVERY, stopping)
    except ConnectionError:
        pass
    abort(request)
    return None


async def _hang(seconds: float, stopping: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stopping.wait()
    except TimeoutError:
        return
