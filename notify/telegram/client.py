"""python-telegram-bot's Bot for sending, with every failure of the wire told apart.

What counts is whether the request can have arrived: only then may it have been accepted.
"""

import json
import logging
from typing import Any

import httpx
from telegram import Bot
from telegram.error import BadRequest, NetworkError, TelegramError
from telegram.request import HTTPXRequest, RequestData

from core.http.provider_httpx import StrangeAnswer, client_options
from core.http.provider_session import MAX_ANSWER, TIMED_OUT_BEHIND
from core.json_types import JsonObject

REAL_API_URL = "https://api.telegram.org"
CONNECT_SECONDS = 3.0
READ_SECONDS = 8.0

_NEVER_LEFT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)


class NotSent(NetworkError):
    """The request never left, or what answered it was not Telegram."""


class AnswerLost(NetworkError):
    """The request left, and Telegram failed or its answer cannot be read. `status` is HTTP's, 0 for none."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class FloodControl(TelegramError):
    """Telegram did not take it and asks to wait. `seconds` is None where it does not say how long."""

    def __init__(self, seconds: int | None) -> None:
        super().__init__("Too Many Requests")
        self.seconds = seconds


class SendingRequest(HTTPXRequest):
    """PTB's own requests, stopped before PTB forgets what failed or logs what it cannot read."""

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *args: Any, **kwargs: Any
    ) -> tuple[int, bytes]:
        """Make one request. Raises `NotSent`, `AnswerLost`, `FloodControl`, and `BadRequest` for an odd 4xx."""
        try:
            status, payload = await super().do_request(url, method, request_data, *args, **kwargs)
        except NetworkError as error:
            cause = type(error.__cause__ or error).__name__
            if isinstance(error.__cause__, StrangeAnswer):
                raise _not_telegram(error.__cause__.status) from error
            if isinstance(error.__cause__, _NEVER_LEFT):
                raise NotSent(f"no connection: {cause}") from error
            raise AnswerLost(f"answer lost: {cause}") from error
        return status, _checked(status, payload)


class TelegramSender:
    """Hold one Bot; made at the first call. `api_url` is an origin and may carry a path prefix."""

    def __init__(self, *, bot_token: str, api_url: str, connect: float, read: float) -> None:
        self._bot_token = bot_token
        self._api_url = api_url.rstrip("/")
        self._seconds = (connect, read)
        self._request: SendingRequest | None = None
        self._bot: Bot | None = None

    @property
    def bot(self) -> Bot:
        """Return PTB's Bot. Its calls are made once: nothing below repeats them."""
        if self._bot is None:
            _hush()
            connect, read = self._seconds
            self._request = SendingRequest(
                connection_pool_size=32,
                connect_timeout=connect,
                read_timeout=read,
                write_timeout=read,
                pool_timeout=connect,
                httpx_kwargs=client_options(MAX_ANSWER),
            )
            self._bot = Bot(
                self._bot_token,
                base_url=f"{self._api_url}/bot",
                request=self._request,
                get_updates_request=self._request,
            )
        return self._bot

    async def close(self) -> None:
        """Release connections."""
        if self._request is not None:
            await self._request.shutdown()
        self._request = self._bot = None


def _checked(status: int, payload: bytes) -> bytes:
    """Return what PTB may read of an answer of Telegram's own; raise what any other one means."""
    answer = _read(payload)
    if answer is None or not isinstance(answer.get("ok"), bool):
        if status == 429:
            raise FloodControl(None)
        raise _not_telegram(status)
    parameters = answer.get("parameters")
    seconds = parameters.get("retry_after") if isinstance(parameters, dict) else None
    if status == 429 or seconds:
        raise FloodControl(seconds if isinstance(seconds, int) else None)
    if answer["ok"]:
        if status >= 300 or "result" not in answer:
            raise AnswerLost(f"HTTP {status}", status)
        return _accepted(answer, payload)
    if status >= 500:
        raise AnswerLost(f"HTTP {status}", status)
    if status < 400:
        raise NotSent(f"refused without a reason, HTTP {status}")
    if status not in (400, 401, 403, 404):  # PTB would call it a fault of the network, or of ours
        raise BadRequest(f"HTTP {status}")
    return payload


def _accepted(answer: JsonObject, payload: bytes) -> bytes:
    """Leave of a message that was sent what we read of it: PTB fails on what it does not know, after the acceptance."""
    result = answer["result"]
    number = result.get("message_id") if isinstance(result, dict) else None
    if isinstance(number, bool) or not isinstance(number, int):
        return payload
    return json.dumps(
        {"ok": True, "result": {"message_id": number, "date": 0, "chat": {"id": 0, "type": "private"}}}
    ).encode()


def _not_telegram(status: int) -> NetworkError:
    """Name an answer that is not Telegram's own: a proxy's, a captive portal's, or a redirect."""
    if status in TIMED_OUT_BEHIND:
        return AnswerLost(f"a proxy had no answer in time, HTTP {status}", status)
    return NotSent(f"no answer of Telegram's, HTTP {status}")


def _read(payload: bytes) -> JsonObject | None:
    try:
        answer = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


class _WithoutTokens(logging.Filter):
    """Drops httpx's line for each request: the URL holds the token."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "/bot" not in record.getMessage()


_WITHOUT_TOKENS = _WithoutTokens()


def _hush() -> None:
    logging.getLogger("httpx").addFilter(_WITHOUT_TOKENS)
    logging.getLogger("telegram").setLevel(logging.WARNING)  # below, it logs texts and the token
