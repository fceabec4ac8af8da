"""Limits that aiohttp's server lacks: a half-sent header or body is closed, and connections are counted.

By default aiohttp keeps a connection that sends half a request for as long as the sender likes, which lets
one machine hold every connection we have.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

import structlog
from aiohttp import StreamReader, web
from aiohttp.web_protocol import RequestHandler

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a request may take to arrive, in seconds, and how many connections are held at once.

    `header` and `body` count from the first byte of each, whatever trickles in between; `idle` is how long
    a connection may wait between two requests, longer than the usual proxy's own limit of 60 s.
    """

    header: float = 4.0
    body: float = 5.5  # a little more than our own answer to it takes
    idle: float = 75.0
    connections: int = 512


class DeadlineHandler(RequestHandler):
    """One connection, closed when the request on it does not arrive whole in time."""

    __slots__ = ("_body", "_deadline", "_limits")

    def __init__(self, manager: web.Server, *, limits: Limits, **kwargs: Any) -> None:
        super().__init__(manager, **kwargs)
        self._limits = limits
        self._deadline: asyncio.TimerHandle | None = None
        self._body: StreamReader | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, unless there are too many."""
        super().connection_made(transport)
        if self._manager is not None and len(self._manager.connections) > self._limits.connections:
            _log.warning("connection_refused", limit=self._limits.connections)
            self.force_close()
            return
        self._arm(self._limits.header)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Drop the timer with the connection."""
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Feed the parser, then see what is still missing."""
        before = self._request_count
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

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer bytes that are no HTTP without a traceback: strangers send them all day."""
        if status >= 500:
            return super().handle_error(request, status, exc, message)
        _log.info("not_http", status=status)
        response = web.Response(status=status, text="bad request\n")
        response.force_close()
        return response

    def _body_is_missing(self) -> bool:
        return self._body is not None and not self._body.is_eof() and self._body.exception() is None

    def _arm(self, seconds: float) -> None:
        self._disarm()
        self._deadline = self._loop.call_later(seconds, self._close_late)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

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

    def __call__(self) -> RequestHandler:
        """Make the protocol of one connection."""
        return DeadlineHandler(self, limits=self._limits, loop=self._loop, **self._options)


class DeadlineRunner(web.AppRunner):
    """aiohttp's runner with our server in it."""

    __slots__ = ("_limits",)

    def __init__(self, app: web.Application, limits: Limits, **kwargs: Any) -> None:
        super().__init__(
            app,
            keepalive_timeout=limits.idle,
            lingering_time=1.0,  # after an answer, how long the rest of a refused body is read
            access_log=None,
            **kwargs,
        )
        self._limits = limits

    async def _make_server(self) -> web.Server:
        return DeadlineServer(await super()._make_server(), self._limits)
