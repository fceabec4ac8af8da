import os
from collections.abc import Sequence
from datetime import timedelta

import aiohttp
from aiohttp import web
from onevalet import (
    Address,
    Ambiguous,
    Change,
    ChannelSetup,
    Check,
    InboundChannel,
    InboundMessage,
    InboundSink,
    OutboundChannel,
    OutboundMessage,
    Part,
    Press,
    RateLimited,
    Receipt,
    Rejected,
    StoreUnavailable,
    Target,
    Unavailable,
)

NAME, LONGEST = "pager", 200


class PagerIn(InboundChannel):
    """Takes in what people write on their pagers, and the choices that they press."""

    name = NAME

    def __init__(self, setup: ChannelSetup, sink: InboundSink) -> None:
        super().__init__(setup, sink)
        self.secret = os.environ.get("PAGER_SECRET", "")

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/pager", self.take)]

    async def take(self, request: web.Request) -> web.Response:
        if not self.secret or request.headers.get("Authorization") != f"Bearer {self.secret}":
            return web.Response(status=401)
        said = await request.json()
        address, keys = Address(NAME, self.account, peer=said["from"]), (said["id"],)
        try:
            if "pressed" in said:
                await self.sink.accept(Press(address, said["from"], keys, said["pressed"]))
            else:
                await self.sink.accept(InboundMessage(address, said["from"], keys, said["text"]))
        except StoreUnavailable:
            return web.Response(status=503)  # the service will send it again
        return web.Response(status=204)

    async def setup(self) -> Sequence[Change]:
        """Tell what `channels setup` cannot do here."""
        return [Change("webhook", "", f"{os.environ.get('PUBLIC_URL', '')}/pager", by_hand=True)]

    async def check(self) -> Sequence[Check]:
        """Return a line for `doctor`."""
        return [
            Check("pager secret", bool(self.secret), "is set" if self.secret else "is missing", "Set PAGER_SECRET.")
        ]


class PagerOut(OutboundChannel):
    """Sends pages, of which the service tells nothing later: one whose answer was lost is not sent again."""

    name = NAME

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        text = message.text or " "
        parts = [Part(text[at : at + LONGEST]) for at in range(0, len(text), LONGEST)]
        choices = [{"label": action.label, "token": action.token} for action in message.actions]
        return (*parts[:-1], Part(parts[-1].text, {"choices": choices}))

    async def send(self, part: Part, to: Target) -> Receipt:
        page = {"to": to.address.peer, "text": part.text, "ref": to.ref, **part.data}
        try:
            async with aiohttp.ClientSession() as http, http.post(os.environ["PAGER_URL"], json=page) as answer:
                return self.read(answer.status, answer.headers.get("Retry-After", "60"), to.ref)
        except aiohttp.ClientConnectorError as error:
            raise Unavailable("the service cannot be reached") from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Ambiguous("the answer was lost") from error

    def read(self, status: int, retry_after: str, ref: str) -> Receipt:
        if status == 429:
            raise RateLimited("too many pages", "429", timedelta(seconds=int(retry_after)))
        if status >= 500:
            raise Unavailable("the service has trouble", str(status))
        if status >= 400:
            raise Rejected("the service refuses this page", str(status))
        return Receipt(ref)
