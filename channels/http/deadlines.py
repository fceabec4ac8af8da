"""Limits that aiohttp's server lacks: of half-sent requests, of connections, and of answers that outlast the process.

By default aiohttp keeps a connection that sends half a request for as long as the sender likes, and any number of idle
connections, so a single machine can hold all of ours. Answers that last as long as their clients listen are told of the
process's stop, which would wait for them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import structlog
from aiohttp import StreamReader, WSCloseCode, web
from aiohttp.typedefs import Handler
from aiohttp.web_protocol import RequestHandler

from channels.http.connections import Connections, source_of
from channels.http.hosts import OPEN_PATHS

_TELL_EVERY = 60.0
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Limits:
    """Time limits for the arrival of a request, in seconds, and the maximum number of connections.

    `header` and `body` count from the first byte of each, even if bytes trickle in; `idle` is how long a connection may
    wait between two requests, longer than the usual proxy's own limit of 60 s; `stranger_idle` is the same for a source
    of which no request has been taken yet.
    """

    header: float = 4.0
    body: float = 5.5  # a little more than our own answer to it takes
    idle: float = 75.0
    stranger_idle: float = 10.0
    connections: int = 512


class DeadlineHandler(RequestHandler):
    """A connection, closed if a request on it does not arrive completely in time."""

    __slots__ = ("_body", "_counted", "_deadline", "_idle", "_limits", "_source")

    def __init__(
        self, manager: web.Server, *, limits: Limits, connections: Connections["DeadlineHandler"], **kwargs: Any
    ) -> None:
        super().__init__(manager, **kwargs)
        self._limits = limits
        self._counted = connections
        self._source = ""
        self._deadline: asyncio.TimerHandle | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._body: StreamReader | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection; if there are too many, close a waiting connection."""
        super().connection_made(transport)
        self._source = source_of(transport.get_extra_info("peername"))
        if self._counted.full:
            victim = self._counted.to_close()
            self._tell_full(refused=victim is None)
            (victim or self).drop()
            if victim is None:
                return  # all others are at work
        self._counted.open(self, self._source)
        self._arm(self._limits.header)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._counted.close(self)
        self._disarm()
        self._disarm_idle()
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close at once, even if the client has not read its answer."""
        self._counted.close(self)
        self._disarm()
        self._disarm_idle()
        transport = self.transport
        self.force_close()
        if transport is not None:
            transport.abort()

    def prove(self) -> None:
        """Remember that a request from this source was accepted, so that its connections may idle for longer."""
        self._counted.prove(self._source)

    def pause_writing(self) -> None:
        """Count a client that reads no answers among those that wait."""
        super().pause_writing()
        self._counted.wait(self)

    def resume_writing(self) -> None:
        """Continue an answer whose client reads again."""
        super().resume_writing()
        if self._request_in_progress:
            self._counted.work(self)

    def data_received(self, data: bytes) -> None:
        """Feed the parser, then start or stop the timer of the missing part."""
        before = self._request_count
        self._disarm_idle()
        super().data_received(data)
        if self._upgraded or self._payload_parser is not None:
            self._disarm()
        elif self._request_count != before:
            self._disarm()
            self._body = self._messages[-1][1] if self._messages else None
            if self._body_is_missing():
                self._arm(self._limits.body)
        elif self._body is not None and not self._body_is_missing():
            self._disarm()
            self._body = None
        elif self._body is None and data and self._deadline is None:
            self._arm(self._limits.header)  # the next request on this connection has begun
        if (self._messages or self._request_in_progress) and not self._body_is_missing() and not self._paused:
            self._counted.work(self)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer bytes that are not HTTP without a traceback: strangers send them all day."""
        if status >= 500:
            return super().handle_error(request, status, exc, message)
        _log.info("not_http", status=status)
        response = web.Response(status=status, text="bad request\n")
        response.force_close()
        return response

    async def _handle_request(
        self,
        request: web.BaseRequest,
        start_time: float | None,
        request_handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
    ) -> tuple[web.StreamResponse, bool]:
        try:
            return await super()._handle_request(request, start_time, request_handler)
        finally:
            if not self._messages or self._body_is_missing():
                self._counted.wait(self)
                if not self._counted.proven(self._source):
                    self._arm_idle()

    def _tell_full(self, *, refused: bool) -> None:
        if isinstance(self._manager, DeadlineServer):
            self._manager.tell_full(refused=refused)

    def _body_is_missing(self) -> bool:
        return self._body is not None and not self._body.is_eof() and self._body.exception() is None

    def _arm(self, seconds: float) -> None:
        self._disarm()
        self._deadline = self._loop.call_later(seconds, self._close_late)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _arm_idle(self) -> None:
        self._disarm_idle()
        self._idle = self._loop.call_later(self._limits.stranger_idle, self.drop)

    def _disarm_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _close_late(self) -> None:
        self._deadline = None
        _log.info("request_too_slow", body=self._body is not None)
        self.force_close()


class DeadlineServer(web.Server):
    """A server whose connections keep to the limits."""

    def __init__(self, plain: web.Server, limits: Limits) -> None:
        super().__init__(
            plain.request_handler,
            request_factory=plain.request_factory,
            handler_cancellation=plain.handler_cancellation,
            loop=plain._loop,
        )
        self._options = plain._kwargs
        self._limits = limits
        self._counted = Connections[DeadlineHandler](limits.connections)
        self._told_full = -_TELL_EVERY

    def __call__(self) -> RequestHandler:
        """Create the protocol of a connection."""
        return DeadlineHandler(self, limits=self._limits, connections=self._counted, loop=self._loop, **self._options)

    def tell_full(self, *, refused: bool) -> None:
        """Log that there are too many connections, once a minute: a single client can cause it all the time."""
        if self._loop.time() - self._told_full >= _TELL_EVERY:
            self._told_full = self._loop.time()
            _log.warning("too_many_connections", limit=self._limits.connections, refused=refused)


class DeadlineRunner(web.AppRunner):
    """aiohttp's runner with our server in it."""

    __slots__ = ("_limits",)

    def __init__(self, app: web.Application, limits: Limits, **kwargs: Any) -> None:
        super().__init__(
            app,
            keepalive_timeout=limits.idle,
            lingering_time=1.0,  # after an answer, how long the rest of a refused body is read
            auto_decompress=False,  # compressed bodies are refused, and must not fail before they are
            access_log=None,
            **kwargs,
        )
        self._limits = limits

    async def _make_server(self) -> web.Server:
        return DeadlineServer(await super()._make_server(), self._limits)


@web.middleware
async def remember_proven(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Note the sources of accepted requests: only genuine requests are accepted."""
    response = await handler(request)
    taken = request.method == "POST" and response.status < 300 and request.path not in OPEN_PATHS
    if taken and isinstance(request.protocol, DeadlineHandler):
        request.protocol.prove()
    return response


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
