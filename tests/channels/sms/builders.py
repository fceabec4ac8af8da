"""A Twilio webhook as Twilio sends it, the pieces to spoil it with, and a sink that remembers."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

import aiohttp

from channels.http.app import build_app, serve
from channels.sms.receive import SmsChannel
from channels.sms.verify import sign
from tests.channels.memory_sink import MemorySink

SID = "AC" + "a" * 32
TOKEN = "0123456789abcdef0123456789abcdef"
NUMBER = "+15550001111"
PERSON = "+15552223333"
MESSAGE_SID = "SM" + "b" * 32
PUBLIC_URL = "https://valet.example.com"
FORM = "application/x-www-form-urlencoded"

type Pairs = list[tuple[str, str]]


def webhook(**changes: str) -> Pairs:
    """Return the fields of an incoming text, some replaced or added."""
    fields = {
        "ToCountry": "US",
        "MessageSid": MESSAGE_SID,
        "SmsMessageSid": MESSAGE_SID,
        "SmsSid": MESSAGE_SID,
        "AccountSid": SID,
        "From": PERSON,
        "To": NUMBER,
        "Body": "Lunch on Friday?",
        "NumMedia": "0",
        "NumSegments": "1",
        "SmsStatus": "received",
        "ApiVersion": "2010-04-01",
        "FromCity": "",
        **changes,
    }
    return list(fields.items())


def signature(pairs: Sequence[tuple[str, str]], path: str = "/webhooks/sms", token: str = TOKEN) -> str:
    """Sign as Twilio does."""
    return sign(token, PUBLIC_URL + path, pairs)


@dataclass
class Gateway:
    """A served application with the SMS channel in it."""

    port: int
    sink: MemorySink
    session: aiohttp.ClientSession

    async def post(
        self, pairs: Sequence[tuple[str, str]], *, path: str = "/webhooks/sms", signed: str | None = None
    ) -> aiohttp.ClientResponse:
        """Post a form as Twilio does, signed unless a signature is given."""
        return await self.send(
            urlencode(pairs).encode(),
            path=path,
            headers={"X-Twilio-Signature": signature(pairs, path) if signed is None else signed},
        )

    async def send(
        self, body: bytes, *, path: str = "/webhooks/sms", method: str = "POST", headers: dict[str, str]
    ) -> aiohttp.ClientResponse:
        """Send any request."""
        url = f"http://127.0.0.1:{self.port}{path}"
        response = await self.session.request(method, url, data=body, headers={"Content-Type": FORM, **headers})
        await response.read()
        return response


def make_channel(sink: MemorySink, *, sender: str = NUMBER, api_url: str = "http://127.0.0.1:9") -> SmsChannel:
    return SmsChannel(
        account_sid=SID, auth_token=TOKEN, sender=sender, public_url=PUBLIC_URL, api_url=api_url, sink=sink
    )


@asynccontextmanager
async def serve_channel(channel: SmsChannel, sink: MemorySink) -> AsyncIterator[Gateway]:
    app = build_app([channel], ready=_ready)
    async with serve(app, "127.0.0.1", 0) as port, aiohttp.ClientSession() as session:
        yield Gateway(port, sink, session)
    await channel.stop()


async def _ready() -> bool:
    return True
