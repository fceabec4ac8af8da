"""Webhooks as the three providers send them, signed beforehand, and a client that costs next to nothing."""

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from channels.slack.verify import sign as sign_slack
from channels.sms.verify import sign as sign_twilio

PUBLIC_URL = "https://valet.example"
ACCOUNT_SID, AUTH_TOKEN, NUMBER = "AC" + "0" * 32, "0123456789abcdef" * 2, "+15550009999"
SIGNING_SECRET, TEAM, BOT_TOKEN = "8f742231b10e8888abcd99yyyzzz85a5", "T0BENCH00", "xoxb-bench"
WEBHOOK_SECRET, TELEGRAM_TOKEN = "a-secret-of-our-own", "99:" + "b" * 35
TEXT = "Remind me to water the plants tomorrow at nine, and tell me what the weather will be."

type Webhook = Callable[[int, int], bytes]
"""Make the request of a person's message, by their numbers."""


def floor(person: int, number: int) -> bytes:
    """Make a request that nothing proves."""
    return _request("/floor", "application/json", json.dumps({"id": number, "from": person, "text": TEXT}).encode())


def sms(person: int, number: int, photo: str = "", words: str = TEXT) -> bytes:
    """Make a text as Twilio sends it, perhaps with the address of a photo."""
    fields = {
        "AccountSid": ACCOUNT_SID,
        "ApiVersion": "2010-04-01",
        "Body": f"{words} {number}",
        "From": f"+1555{person:07d}",
        "FromCity": "SAN FRANCISCO",
        "FromCountry": "US",
        "FromState": "CA",
        "FromZip": "94103",
        "MessageSid": f"SM{number:032x}",
        "NumMedia": "0",
        "NumSegments": "1",
        "SmsMessageSid": f"SM{number:032x}",
        "SmsSid": f"SM{number:032x}",
        "SmsStatus": "received",
        "To": NUMBER,
        "ToCity": "",
        "ToCountry": "US",
    }
    if photo:
        fields |= {"NumMedia": "1", "MediaUrl0": photo, "MediaContentType0": "image/jpeg"}
    path = "/webhooks/sms"
    signature = sign_twilio(AUTH_TOKEN, PUBLIC_URL + path, fields.items())
    body = urlencode(fields).encode()
    return _request(path, "application/x-www-form-urlencoded", body, {"X-Twilio-Signature": signature})


def slack(person: int, number: int) -> bytes:
    """Make a direct message as Slack sends it."""
    ts = f"{int(time.time())}.{number % 1_000_000:06d}"
    event = {
        "type": "message",
        "user": f"U{person:09d}",
        "channel": f"D{person:09d}",
        "channel_type": "im",
        "team": TEAM,
        "text": f"{TEXT} {number}",
        "ts": ts,
        "event_ts": ts,
        "client_msg_id": f"00000000-0000-4000-8000-{number:012d}",
        "blocks": [{"type": "rich_text", "elements": [{"type": "text", "text": f"{TEXT} {number}"}]}],
    }
    payload = {
        "token": "x",
        "team_id": TEAM,
        "api_app_id": "A0BENCH00",
        "event": event,
        "type": "event_callback",
        "event_id": f"Ev{number:09d}",
        "event_time": int(time.time()),
        "authorizations": [{"team_id": TEAM, "user_id": "U0BENCHBOT", "is_bot": True}],
    }
    body, timestamp = json.dumps(payload).encode(), str(int(time.time()))
    headers = {
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": sign_slack(SIGNING_SECRET, body, timestamp),
    }
    return _request("/webhooks/slack", "application/json", body, headers)


def telegram(person: int, number: int) -> bytes:
    """Make a message as Telegram sends it."""
    who = {"id": 1_000_000 + person, "first_name": "Ada", "language_code": "en"}
    update = {
        "update_id": number,
        "message": {
            "message_id": number,
            "from": who | {"is_bot": False},
            "chat": who | {"type": "private"},
            "date": int(time.time()),
            "text": f"{TEXT} {number}",
        },
    }
    headers = {"X-Telegram-Bot-Api-Secret-Token": WEBHOOK_SECRET}
    return _request("/webhooks/telegram", "application/json", json.dumps(update).encode(), headers)


@dataclass(slots=True)
class Client(asyncio.Protocol):
    """A connection that sends the next request after each answer."""

    requests: deque[bytes]
    times: list[float]
    done: "asyncio.Future[None]"
    _transport: asyncio.Transport | None = None
    _sent: float = 0.0
    _answer: bytes = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - says it to the type checker
        self._transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        """Count an answer once it is whole."""
        self._answer += data
        head, end, body = self._answer.partition(b"\r\n\r\n")
        if not end:
            return
        length = head.lower().partition(b"content-length:")[2].partition(b"\r")[0]
        if len(body) < int(length or 0):
            return
        if head.startswith(b"HTTP/1.1 200"):
            self.times.append(time.perf_counter() - self._sent)
        self._answer = b""
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or RuntimeError("the server hung up"))

    def _next(self) -> None:
        if self._transport is None:
            return
        if not self.requests:
            if not self.done.done():
                self.done.set_result(None)
            self._transport.abort()
            return
        self._sent = time.perf_counter()
        self._transport.write(self.requests.popleft())


async def send_all(port: int, requests: Sequence[bytes], in_flight: int) -> list[float]:
    """Send the requests, some at a time; return the seconds of each accepted request."""
    loop, left, times = asyncio.get_running_loop(), deque(requests), list[float]()
    clients = [Client(left, times, loop.create_future()) for _ in range(in_flight)]
    await asyncio.gather(
        *(loop.create_connection(lambda one=client: one, "127.0.0.1", port) for client in clients)  # type: ignore[misc]
    )
    await asyncio.gather(*(client.done for client in clients))
    return times


def _request(path: str, content_type: str, body: bytes, headers: dict[str, str] | None = None) -> bytes:
    lines = {
        "Host": "valet.example",
        "User-Agent": "bench",
        "Accept": "*/*",
        "Content-Type": content_type,
        "Content-Length": str(len(body)),
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body
