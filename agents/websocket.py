"""A channel over WebSocket, for pages and apps of your own: docs/plugins.md lists its messages.

It is written as a channel of yours would be. WEBSOCKET_TOKENS admits people: `ann:TOKEN,bob:TOKEN`.
"""

import asyncio
import hmac
import os
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any

from aiohttp import WSMsgType, web

from onevalet import (
    Address,
    InboundChannel,
    InboundMessage,
    OutboundChannel,
    OutboundMessage,
    Part,
    Press,
    Receipt,
    StreamEvent,
    Target,
    Unavailable,
    make_id,
)

NAME = "websocket"
ACCOUNT = "own"
HELLO_WITHIN = 5.0
"""Seconds in which a connection must say who it is."""
TAKEN_WITHIN = 5.0
"""Seconds in which an app must say that it has a message; it is sent again otherwise."""
MAX_MESSAGE = 64 * 1024


def people() -> dict[str, str]:
    """Return the tokens by the names of their people, without tokens of fewer than 16 characters."""
    pairs = [pair.strip().partition(":") for pair in os.environ.get("WEBSOCKET_TOKENS", "").split(",")]
    return {name: token for name, _, token in pairs if name and len(token) >= 16}


def person_of(token: object) -> str:
    """Return the owner of a token; empty if it has none. Every token is compared, in constant time."""
    given = str(token).encode()
    found = [name for name, known in people().items() if hmac.compare_digest(known.encode(), given)]
    return found[0] if found else ""


class WebSocketIn(InboundChannel):
    """Holds the connections: takes in people's messages and presses, and passes on reports from workers."""

    name = NAME
    account = ACCOUNT

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/websocket", self.connect)]

    async def stop(self) -> None:
        await self.setup_values.relay.close()

    async def connect(self, request: web.Request) -> web.WebSocketResponse:
        """Serve a connection until it ends. The first message must be `{"token": …}`."""
        socket = web.WebSocketResponse(heartbeat=25, max_msg_size=MAX_MESSAGE)
        await socket.prepare(request)
        person = ""
        with suppress(TimeoutError, TypeError, ValueError, AttributeError, RecursionError):
            async with asyncio.timeout(HELLO_WITHIN):
                person = person_of((await socket.receive_json()).get("token"))
        if not person:
            await socket.close(code=4401, message=b"no such token")
            return socket
        telling = asyncio.create_task(self._pass_on(socket, person), name="websocket")
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await self._take(socket, person, message)
        finally:
            telling.cancel()
            await asyncio.wait([telling])
        return socket

    async def _take(self, socket: web.WebSocketResponse, person: str, message: Any) -> None:
        """Handle a message from the app; answer an invalid message with `error`."""
        try:
            said = message.json()
            key = f"{person}:{said.get('id') or make_id('ws')}"
            address = Address(NAME, ACCOUNT, peer=person)
            if taken := said.get("taken"):
                await self.setup_values.relay.tell(f"{NAME}:taken:{taken}", {"by": person})
                return
            if isinstance(said.get("say"), str):
                await self.sink.accept(InboundMessage(address, person, (key,), said["say"], provider_id=key))
            elif isinstance(said.get("press"), str):
                await self.sink.accept(Press(address, person, (key,), said["press"]))
            else:
                raise ValueError
        except (ValueError, RecursionError, AttributeError):
            await socket.send_json({"error": "Send say, press or taken."})
            return
        await socket.send_json({"kept": said.get("id")})

    async def _pass_on(self, socket: web.WebSocketResponse, person: str) -> None:
        while not socket.closed:
            try:
                # What is being sent may be cancelled: then nobody else would end the subscription.
                async with aclosing(self.setup_values.relay.hear(f"{NAME}:{person}")) as heard:
                    async for told in heard:
                        await socket.send_json(told or {"ready": True})
            except Unavailable:
                await asyncio.sleep(1)


class WebSocketOut(OutboundChannel):
    """Tells the web process that holds a person's connection; a part is sent once the app says that it has it."""

    name = NAME
    resend_unknown = True
    draft_every = 0.1

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        actions = [action for action in message.actions if not action.needs_forms]
        buttons = [{"label": action.label, "token": action.token} for action in actions]
        data: dict[str, Any] = {"kind": message.kind.value, "buttons": buttons}
        return (Part(message.text or " ", data),)

    async def send(self, part: Part, to: Target) -> Receipt:
        relay, person = self.setup_values.relay, to.address.peer
        heard = relay.hear(f"{NAME}:taken:{to.ref}")
        try:
            async with asyncio.timeout(TAKEN_WITHIN):
                await anext(heard)
                if not await relay.tell(f"{NAME}:{person}", {"message": to.ref, "text": part.text, **part.data}):
                    raise Unavailable("nobody is connected")
                while (await anext(heard)).get("by") != person:
                    continue
        except TimeoutError:
            raise Unavailable("the app did not take it") from None
        finally:
            await heard.aclose()
        return Receipt(provider_id=to.ref)

    async def show_working(self, to: Address) -> None:
        await self._hint(to, {"working": True})

    async def show_draft(self, to: Address, text: str, draft_id: str) -> None:
        """Show the answer while it is written."""
        await self._hint(to, {"draft": text})

    def watcher(self, to: Address) -> Callable[[StreamEvent], Awaitable[None]]:
        """Return a function that passes on the events of a turn, without the model's input."""

        async def tell(event: StreamEvent) -> None:
            about = {"type": event.type.value, "turn": event.turn_id, "step": event.step, "name": event.name or ""}
            await self._hint(to, {"event": about})

        return tell

    async def close(self) -> None:
        await self.setup_values.relay.close()

    async def _hint(self, to: Address, hint: dict[str, Any]) -> None:
        with suppress(Unavailable):
            await self.setup_values.relay.tell(f"{NAME}:{to.peer}", hint)
