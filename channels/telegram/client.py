"""python-telegram-bot's Bot, pointed at the configured origin, with timeouts and silent about tokens and texts."""

import asyncio
import json
import logging
from typing import Any, cast
from urllib.parse import urlencode

from telegram import Bot
from telegram.error import Conflict, InvalidToken, NetworkError, TelegramError, TimedOut
from telegram.request import BaseRequest, HTTPXRequest, RequestData

from core.http.provider_httpx import client_options
from core.http.provider_session import MAX_LIST
from core.json_types import Json

REAL_API_URL = "https://api.telegram.org"
ALLOWED_UPDATES = ("message", "edited_message", "callback_query", "my_chat_member")
"""All that we read. Edits only to record that they are not answered."""

_CONNECT, _READ, _POOL = 4.0, 8.0, 2.0
_LONG_POLL_MARGIN = 5.0
_LONGEST = 30.0
"""Seconds of any call, a long poll included."""


class Unanswered(NetworkError):
    """Telegram failed, or answered what cannot be read. `status` is HTTP's."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status


class FloodControl(TelegramError):
    """Telegram asks to wait. `seconds` is None where it does not say how long."""

    def __init__(self, seconds: int | None) -> None:
        super().__init__("Too Many Requests")
        self.seconds = seconds


class CheckedRequest(HTTPXRequest):
    """PTB's own requests, stopped before PTB logs an unreadable answer or forgets an error's status."""

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *args: Any, **kwargs: Any
    ) -> tuple[int, bytes]:
        """Make one request. Raises `FloodControl`, `Unanswered` and PTB's own `NetworkError`."""
        try:
            # PTB bounds the wait for each piece of an answer, not for all of it.
            async with asyncio.timeout(_LONGEST):
                status, payload = await super().do_request(url, method, request_data, *args, **kwargs)
        except TimeoutError as error:
            raise TimedOut("no whole answer in time") from error
        try:
            answer = json.loads(payload)
        except (ValueError, RecursionError):
            raise Unanswered(status) from None
        if not isinstance(answer, dict) or status >= 500 or (status < 300 and "result" not in answer):
            raise Unanswered(status)
        parameters = answer.get("parameters")
        seconds = parameters.get("retry_after") if isinstance(parameters, dict) else None
        if status == 429 or seconds:
            raise FloodControl(seconds if isinstance(seconds, int) else None)
        return status, payload


class TelegramApi:
    """Hold one Bot; made at the first call. `api_url` is an origin and may carry a path prefix."""

    def __init__(self, *, bot_token: str, api_url: str) -> None:
        self._bot_token = bot_token
        self._api_url = api_url.rstrip("/")
        self._request: BaseRequest | None = None
        self._bot: Bot | None = None

    @property
    def bot(self) -> Bot:
        """Return PTB's Bot."""
        return self._open()[0]

    async def get_updates(self, offset: int, seconds: int) -> list[Json]:
        """Poll once, for at most so many seconds; return the updates as they came.

        Past PTB's own method, which fails for a whole batch when it cannot read one update of it.
        """
        bot, request = self._open()
        query: dict[str, str | int] = {"timeout": seconds, "allowed_updates": json.dumps(ALLOWED_UPDATES)}
        if offset:
            query["offset"] = offset
        found = await request.post(
            f"{bot.base_url}/getUpdates?{urlencode(query)}", read_timeout=seconds + _LONG_POLL_MARGIN
        )
        return cast(list[Json], found) if isinstance(found, list) else []

    async def close(self) -> None:
        """Release connections."""
        if self._request is not None:
            await self._request.shutdown()
        self._request = self._bot = None

    def _open(self) -> tuple[Bot, BaseRequest]:
        if self._bot is None or self._request is None:
            _hush()
            self._request = CheckedRequest(
                connection_pool_size=16,
                connect_timeout=_CONNECT,
                read_timeout=_READ,
                write_timeout=_READ,
                pool_timeout=_POOL,
                httpx_kwargs=client_options(MAX_LIST),
            )
            self._bot = Bot(
                self._bot_token,
                base_url=f"{self._api_url}/bot",
                base_file_url=f"{self._api_url}/file/bot",
                request=self._request,
                get_updates_request=self._request,
            )
        return self._bot, self._request


def describe(error: TelegramError) -> str:
    """Return what went wrong in a few words, without the address that was called."""
    if isinstance(error, InvalidToken):
        return "Telegram refuses the bot token"
    if isinstance(error, FloodControl):
        return f"too many requests; wait {error.seconds or 'a few'} s"
    if isinstance(error, Conflict):
        return error.message.removeprefix("Conflict: ")
    if isinstance(error, Unanswered):
        return f"Telegram failed: {error.message}"
    cause = error.__cause__
    if type(error) is NetworkError or cause is not None:
        return f"no answer: {type(cause or error).__name__}"
    return error.message


class _WithoutTokens(logging.Filter):
    """Drops httpx's line for each request: the URL holds the token."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "/bot" not in record.getMessage()


_WITHOUT_TOKENS = _WithoutTokens()


def _hush() -> None:
    logging.getLogger("httpx").addFilter(_WITHOUT_TOKENS)
    logging.getLogger("telegram").setLevel(logging.WARNING)  # below, it logs texts and the token
