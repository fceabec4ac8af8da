"""Socket Mode: apis/events-api/using-socket-mode. Up to ten connections; an event goes to any single connection."""

import asyncio
import json
import secrets
import time
import uuid
from dataclasses import dataclass

import structlog
from aiohttp import WSMsgType, web

from workbench.simulator.base import Wire
from workbench.simulator.journal import Call, Json
from workbench.simulator.slack import limits
from workbench.simulator.slack.shapes import Obj, obj, text

log = structlog.get_logger()


@dataclass(eq=False, slots=True)
class Connection:
    """An open socket. A frozen socket looks alive but neither answers pings nor carries anything."""

    socket: web.WebSocketResponse
    frozen: bool = False


@dataclass(frozen=True, slots=True)
class Ack:
    """The gateway's word for an envelope, with the payload that answers an interaction."""

    payload: Json = None


class Sockets:
    """The team's side of Socket Mode. `on` may be changed, as the app's owner does on Slack's pages."""

    def __init__(self, wire: Wire) -> None:
        self.on = wire.config.slack.socket_mode
        self._wire = wire
        self._tickets: dict[str, float] = {}
        self._acks: dict[str, asyncio.Future[Ack]] = {}
        self._connections: list[Connection] = []

    def routes(self) -> list[web.AbstractRouteDef]:
        return [web.get("/slack/socket", self.serve)]

    @property
    def count(self) -> int:
        return len(self._connections)

    def ticket(self) -> str:
        """Return a ticket for a connection, valid for half a minute."""
        made = secrets.token_hex(16)
        self._tickets[made] = time.monotonic()
        return made

    def freeze(self, frozen: bool) -> None:
        """Make the present connections silently dead, or alive again; later connections are not touched."""
        for connection in self._connections:
            connection.frozen = frozen

    async def refresh(self, reason: str = "refresh_requested") -> None:
        """Ask each connection to disconnect, as Slack does every few hours, and close it."""
        for connection in list(self._connections):
            await connection.socket.send_json({"type": "disconnect", "reason": reason, "debug_info": _debug()})
            self._forget(connection)

    async def close(self) -> None:
        for connection in list(self._connections):
            await connection.socket.close()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        made = self._tickets.pop(request.query.get("ticket", ""), None)
        if made is None or time.monotonic() - made > limits.TICKET_SECONDS:
            raise web.HTTPForbidden(text="the ticket is unknown, used or expired")
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        if not self.on or self.count >= limits.CONNECTIONS:
            reason = "too_many_websockets" if self.on else "link_disabled"
            await socket.send_json({"type": "disconnect", "reason": reason, "debug_info": _debug()})
            await socket.close()
            return socket
        await self._hold(Connection(socket))
        return socket

    async def send(self, kind: str, payload: Obj, about: str, *, attempt: int = 0) -> Ack | str:
        """Send an envelope over a connection; return its ack, or why there was none."""
        if not self._connections:
            return "no_connection"
        connection = secrets.choice(self._connections)
        envelope: Obj = {
            "type": kind,
            "envelope_id": str(uuid.uuid4()),
            "payload": payload,
            "accepts_response_payload": kind != "events_api",
        }
        if kind == "events_api":
            envelope |= {"retry_attempt": attempt, "retry_reason": "timeout" if attempt else ""}
        begun, at = time.perf_counter(), self._wire.now()
        outcome = await self._exchange(connection, envelope)
        duration = (time.perf_counter() - begun) * 1000
        status, answer = (
            (200, {"payload": outcome.payload}) if isinstance(outcome, Ack) else (0, {"no_answer": outcome})
        )
        self._wire.journal.add(
            Call(at, "slack", "in", f"slack.socket.{kind}", status, envelope, {**answer}, about, duration)
        )
        return outcome

    async def _exchange(self, connection: Connection, envelope: Obj) -> Ack | str:
        envelope_id = text(envelope["envelope_id"])
        waiting: asyncio.Future[Ack] = asyncio.get_running_loop().create_future()
        self._acks[envelope_id] = waiting
        try:
            if not connection.frozen:
                await connection.socket.send_str(json.dumps(envelope))
            async with asyncio.timeout(limits.ACK_SECONDS * self._wire.config.patience):
                return await waiting
        except TimeoutError:
            return "timeout"
        except (ConnectionError, RuntimeError):
            return "connection_failed"
        finally:
            del self._acks[envelope_id]

    async def _hold(self, connection: Connection) -> None:
        self._connections.append(connection)
        async with asyncio.TaskGroup() as group:
            closer = group.create_task(self._close_at_end(connection.socket))
            try:
                await connection.socket.send_json(self._hello())
                await self._listen(connection)
            except ConnectionError:
                log.debug("slack_socket_lost")
            finally:
                self._forget(connection)
                closer.cancel()

    async def _listen(self, connection: Connection) -> None:
        async for message in connection.socket:
            if connection.frozen:
                continue
            if message.type is WSMsgType.PING:
                await connection.socket.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                self._take_ack(message.data)

    def _hello(self) -> Obj:
        app: Obj = {"app_id": self._wire.config.slack.app_id}
        return {"type": "hello", "num_connections": self.count, "debug_info": _debug(), "connection_info": app}

    def _take_ack(self, data: str) -> None:
        try:
            answer = obj(json.loads(data))
        except ValueError:
            return
        waiting = self._acks.get(text(answer.get("envelope_id")))
        if waiting is not None and not waiting.done():
            waiting.set_result(Ack(answer.get("payload")))

    async def _close_at_end(self, socket: web.WebSocketResponse) -> None:
        await self._wire.stopping.wait()
        await socket.close()

    def _forget(self, connection: Connection) -> None:
        if connection in self._connections:
            self._connections.remove(connection)


def _debug() -> Obj:
    return {"host": "applink-simulator", "approximate_connection_time": 18060}
