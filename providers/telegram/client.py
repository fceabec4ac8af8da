"""python-telegram-bot's Bot at the configured origin, with our errors for its own, and no token in a log.

The important question is whether the request can have arrived: only then may it have been accepted.
"""

import asyncio
import json
import logging
from typing import Any, cast
from urllib.parse import urlencode

import httpx
from telegram import Bot
from telegram.error import BadRequest, NetworkError
from telegram.request import BaseRequest, HTTPXRequest, RequestData

from core.http.provider_session import MAX_ANSWER, MAX_LIST, TIMED_OUT_BEHIND
from core.json_types import Json, JsonObject, read_json
from providers.provider_httpx import StrangeAnswer, client_options
from providers.telegram.errors import AnswerLost, FloodControl, NotSent

ALLOWED_UPDATES = ("message", "edited_message", "callback_query", "my_chat_member", "message_reaction")
"""All that we read. Edits only to record that they are not answered. Reactions come only if they are named."""
CONNECT_SECONDS = 3.0
READ_SECONDS = 8.0
UPDATES_BYTES = MAX_LIST
"""Bounds the answers to a client that also polls."""

_LONG_POLL_MARGIN = 5.0
_TOTAL = 30.0
"""Seconds of any call, a long poll included."""
_NEVER_LEFT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)
# PTB makes errors of its own of these; of any other status it would make a fault of the network, or of ours.
_REFUSALS = (400, 401, 403, 404, 409)


class TelegramApi:
    """A Bot, created at the first call. `api_url` is an origin and may carry a path prefix.

    `connect` and `read` bound each call, in seconds; `max_bytes` bounds its answer.
    """

    def __init__(
        self,
        *,
        bot_token: str,
        api_url: str,
        connect: float = CONNECT_SECONDS,
        read: float = READ_SECONDS,
        max_bytes: int = MAX_ANSWER,
    ) -> None:
        self._bot_token = bot_token
        self._api_url = api_url.rstrip("/")
        self._connect = connect
        self._read = read
        self._max_bytes = max_bytes
        self._request: BaseRequest | None = None
        self._bot: Bot | None = None

    @property
    def bot(self) -> Bot:
        """Return PTB's Bot. Its calls are made once: nothing below repeats them."""
        return self._open()[0]

    async def get_updates(self, offset: int, seconds: int) -> list[Json]:
        """Poll once, for at most `seconds`; return the updates unchanged.

        Not by PTB's own method, which fails for a whole batch if it cannot read a single update.
        """
        bot, request = self._open()
        query: dict[str, str | int] = {"timeout": seconds, "allowed_updates": json.dumps(ALLOWED_UPDATES)}
        if offset:
            query["offset"] = offset
        updates = await request.post(
            f"{bot.base_url}/getUpdates?{urlencode(query)}", read_timeout=seconds + _LONG_POLL_MARGIN
        )
        return cast(list[Json], updates) if isinstance(updates, list) else []

    async def get_username(self) -> str:
        """Return the bot's @name without the @; empty if Telegram does not return it.

        Not by PTB's own method, which fails if any other field is missing.
        """
        bot, request = self._open()
        me: object = await request.post(f"{bot.base_url}/getMe")
        name = me.get("username") if isinstance(me, dict) else None
        return name if isinstance(name, str) else ""

    async def get_name(self, user: int) -> str:
        """Return the name of a user whom the bot knows. Raises `TelegramError`, also for an unknown user.

        Not by PTB's own method, which fails if any other field is missing.
        """
        bot, request = self._open()
        chat: object = await request.post(f"{bot.base_url}/getChat?{urlencode({'chat_id': user})}")
        if not isinstance(chat, dict) or chat.get("type") != "private":
            raise BadRequest("Chat not found")
        return " ".join(str(chat[part]) for part in ("first_name", "last_name") if chat.get(part))

    async def get_status(self, chat: int, user: int) -> str:
        """Return a member's status in a group. Raises `TelegramError`.

        Not by PTB's own method, which fails for a status that it does not know.
        """
        bot, request = self._open()
        query = urlencode({"chat_id": chat, "user_id": user})
        member: object = await request.post(f"{bot.base_url}/getChatMember?{query}")
        return str(member.get("status", "")) if isinstance(member, dict) else ""

    async def close(self) -> None:
        if self._request is not None:
            await self._request.shutdown()
        self._request = self._bot = None

    def _open(self) -> tuple[Bot, BaseRequest]:
        if self._bot is None or self._request is None:
            _silence_loggers()
            self._request = _CheckedRequest(
                connection_pool_size=32,
                connect_timeout=self._connect,
                read_timeout=self._read,
                write_timeout=self._read,
                pool_timeout=self._connect,
                httpx_kwargs=client_options(self._max_bytes),
            )
            self._bot = Bot(
                self._bot_token,
                base_url=f"{self._api_url}/bot",
                base_file_url=f"{self._api_url}/file/bot",
                request=self._request,
                get_updates_request=self._request,
            )
        return self._bot, self._request


class _CheckedRequest(HTTPXRequest):
    """PTB's own requests, intercepted before PTB drops the cause of a failure or logs an unreadable answer."""

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *args: Any, **kwargs: Any
    ) -> tuple[int, bytes]:
        """Make a request. Raises `NotSent`, `AnswerLost`, `FloodControl`, and `BadRequest` for an odd 4xx."""
        try:
            # PTB bounds the wait for each piece of an answer, not for all of it.
            async with asyncio.timeout(_TOTAL):
                status, payload = await super().do_request(url, method, request_data, *args, **kwargs)
        except TimeoutError as error:
            raise AnswerLost("no whole answer in time") from error
        except NetworkError as error:
            cause = type(error.__cause__ or error).__name__
            if isinstance(error.__cause__, StrangeAnswer):
                raise _not_telegram(error.__cause__.status) from error
            if isinstance(error.__cause__, _NEVER_LEFT):
                raise NotSent(f"no connection: {cause}") from error
            raise AnswerLost(f"answer lost: {cause}") from error
        return status, _checked(status, payload)


def _checked(status: int, payload: bytes) -> bytes:
    """Return the part of Telegram's own answer that PTB may read; raise the error that any other answer means."""
    answer = _parse(payload)
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
    if status not in _REFUSALS:
        raise BadRequest(f"HTTP {status}")
    return payload


def _accepted(answer: JsonObject, payload: bytes) -> bytes:
    """Return a sent message reduced to the fields that we read: PTB fails on unknown content, after the acceptance."""
    result = answer["result"]
    number = result.get("message_id") if isinstance(result, dict) else None
    if isinstance(number, bool) or not isinstance(number, int):
        return payload
    return json.dumps(
        {"ok": True, "result": {"message_id": number, "date": 0, "chat": {"id": 0, "type": "private"}}}
    ).encode()


def _not_telegram(status: int) -> NetworkError:
    """Return the error for an answer that is not Telegram's: a proxy's, a captive portal's, or a redirect."""
    if status in TIMED_OUT_BEHIND:
        return AnswerLost(f"a proxy had no answer in time, HTTP {status}", status)
    return NotSent(f"no answer of Telegram's, HTTP {status}")


def _parse(payload: bytes) -> JsonObject | None:
    try:
        answer = read_json(payload)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


class _WithoutTokens(logging.Filter):
    """Drops httpx's line for each request: the URL holds the token."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "/bot" not in record.getMessage()


_WITHOUT_TOKENS = _WithoutTokens()


def _silence_loggers() -> None:
    logging.getLogger("httpx").addFilter(_WITHOUT_TOKENS)
    logging.getLogger("telegram").setLevel(logging.WARNING)  # below, it logs texts and the token
