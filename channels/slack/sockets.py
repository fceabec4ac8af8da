"""Socket Mode: a socket held open, envelopes acknowledged after the commit, a dead socket replaced.

The SDK's own reconnecting is not used: after a failed attempt it tries the same one-time address indefinitely, and
closes the old socket before the new socket is open. Here each socket is an SDK client of its own.
Source: docs.slack.dev, apis/events-api/using-socket-mode.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

import aiohttp
import structlog
from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.response import BoltResponse
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from channels.slack.bolt_app import BoltGateway
from core import metrics
from core.errors import RequestRefused, StoreUnavailable
from core.http.provider_session import open_session
from core.json_types import JsonObject
from providers.slack.client import SlackApi
from providers.slack.errors import FAILURES, to_delivery_error

REPLACED_WITHIN = 20.0
"""Seconds in which a socket that is silently dead is noticed and replaced, while Slack can be reached."""

DEAD = "dead"
"""Reason to replace a socket that no longer answers; a socket that Slack ends stays open until the next is ready."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Pace:
    """Intervals and limits, in seconds.

    A ping goes out every `ping`; without an answer within half of that the socket is dead. `look` is how often it is
    checked, `connect` how long a new socket may take, `wait` and `longest` the first and longest pause after a failure,
    `finish` how long commits in progress may take at the end. The pauses start over only after a socket that was held
    for at least the longest pause.
    """

    ping: float = 5.0
    look: float = 1.0
    connect: float = 10.0
    wait: float = 1.0
    longest: float = 30.0
    finish: float = 5.0


class Sockets:
    """Hold a socket open for as long as the channel runs."""

    def __init__(self, api: SlackApi, bolt: BoltGateway, app_token: str, pace: Pace) -> None:
        self._api = api
        self._bolt = bolt
        self._app_token = app_token
        self._pace = pace
        self.is_open = False
        self._closing = False
        self._busy: set[asyncio.Task[Any]] = set()

    async def run(self) -> None:
        """Hold sockets, each until its successor is ready, until cancelled or until `finish`."""
        wait = self._pace.wait
        held: list[_Socket] = []
        try:
            while not self._closing:
                fresh = await self._connect()
                if fresh is not None:
                    held.append(fresh)
                for old in [socket for socket in held if socket is not fresh]:
                    await self._leave(old)  # the new socket opens first, so that no envelope is missed
                    held.remove(old)
                opened = monotonic()
                self._tell(is_open=fresh is not None)
                if fresh is not None:
                    reason = await self._watch(fresh)
                    self._tell(is_open=reason != DEAD)
                    _log.info("slack_socket_replaced", reason=reason)
                if monotonic() - opened >= self._pace.longest:
                    wait = self._pace.wait
                else:  # none, or sent away soon: too many, switched off, or Slack itself is not well
                    await asyncio.sleep(wait)
                    wait = min(wait * 2, self._pace.longest)
        finally:
            self._tell(is_open=False)
            for socket in held:
                await socket.end()

    def _tell(self, *, is_open: bool) -> None:
        self.is_open = is_open
        metrics.SOCKET_OPEN.labels("slack").set(is_open)

    async def finish(self) -> None:
        """Accept nothing more, and let commits in progress end and be acknowledged."""
        self._closing = True
        if self._busy:
            await asyncio.wait(self._busy, timeout=self._pace.finish)

    async def take(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        """Handle an envelope; without an acknowledgement Slack sends it again."""
        if self._closing:
            return
        task = asyncio.current_task()
        if task is not None:
            self._busy.add(task)
            task.add_done_callback(self._busy.discard)
        response = await self._answer(request.payload)
        if response is not None:
            try:
                await send_async_response(client, request, response, 0.0)
            except (ConnectionError, aiohttp.ClientError, RuntimeError, AttributeError) as error:
                _log.info("slack_ack_lost", cause=type(error).__name__)

    async def _answer(self, payload: object) -> BoltResponse | None:
        try:
            if not isinstance(payload, dict):
                raise RequestRefused("payload is not an object")
            body: JsonObject = payload
            return await self._bolt.dispatch(body)
        except RequestRefused as error:
            _log.info("slack_envelope_refused", reason=error.reason)
        except StoreUnavailable as error:
            _log.warning("store_unavailable", channel="slack", cause=str(error))
        except Exception:
            # The outermost handler for sockets, like the middleware for HTTP.
            _log.exception("slack_envelope_failed")
        return None

    async def _connect(self) -> "_Socket | None":
        socket = _Socket(self, self._api, self._app_token, self._pace.ping)
        try:
            async with asyncio.timeout(self._pace.connect):
                await socket.open()
        except FAILURES as error:
            _log.warning("slack_socket_not_opened", cause=str(to_delivery_error(error)))
            await socket.end()
            return None
        except asyncio.CancelledError:
            await socket.end()
            raise
        _log.info("slack_socket_opened")
        return socket

    async def _watch(self, socket: "_Socket") -> str:
        """Wait until the socket is dead or told to go; return the reason."""
        while not socket.leaving.is_set():
            if not await socket.is_connected():
                return DEAD
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pace.look):
                    await socket.leaving.wait()
        return socket.reason

    async def _leave(self, socket: "_Socket") -> None:
        """Close a socket once its envelopes are acknowledged, or cannot be any more."""
        if self._busy and await socket.is_connected():
            await asyncio.wait(set(self._busy), timeout=self._pace.finish)
        await socket.end()


class _Socket(SocketModeClient):
    """A socket that never reconnects, but reports that it should be replaced."""

    def __init__(self, sockets: Sockets, api: SlackApi, app_token: str, ping: float) -> None:
        super().__init__(
            app_token, logger=api.logger, web_client=api.client, auto_reconnect_enabled=False, ping_interval=ping
        )
        self._timeouts = api.timeouts
        self.leaving = asyncio.Event()
        self.reason = ""
        self.socket_mode_request_listeners.append(sockets.take)

    async def open(self) -> None:
        """Connect. Raises FAILURES; the address is requested here, since the SDK would hide the cause of a failure."""
        await self.aiohttp_client_session.close()  # the SDK's own would follow a redirect
        self.aiohttp_client_session = open_session(self._timeouts)
        self.wss_uri = await self.issue_new_wss_url()
        await self.connect()  # type: ignore[no-untyped-call]

    async def end(self) -> None:
        await self.close()  # type: ignore[no-untyped-call]

    async def run_message_listeners(self, message: dict[str, Any], raw_message: str) -> None:
        """Handle "disconnect" here, on which the SDK would reconnect."""
        if message.get("type") == "disconnect":
            self.reason = str(message.get("reason") or "")[:80]
            self.leaving.set()
            return
        await super().run_message_listeners(message, raw_message)
