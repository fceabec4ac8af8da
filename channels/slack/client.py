"""Slack's official client, pointed at the configured API, with timeouts, silent, and never repeating a call."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from core.errors import Unavailable
from core.http.provider_session import open_session
from core.json_types import JsonObject

REAL_API_URL = "https://slack.com/api/"
TIMEOUT = aiohttp.ClientTimeout(total=20, connect=5)
PATIENCE = 5
"""How often a read waits when Slack asks it to."""
MAX_WAIT = 60.0
"""In seconds."""

FAILURES = (SlackClientError, aiohttp.ClientError, TimeoutError, OSError, ValueError)
"""What a call through the client may raise; ValueError is an answer that cannot be read."""


class SlackApi:
    """Hold one SDK client; its session is made at the first call, since it needs the running loop."""

    def __init__(self, *, bot_token: str, api_url: str) -> None:
        self.logger = silent_logger()
        # By default the SDK repeats a call whose connection was lost, which may post twice.
        self.client = AsyncWebClient(token=bot_token, base_url=api_url, retry_handlers=[], logger=self.logger)

    async def call(self, method: str, *, get: bool = False, token: str = "", **arguments: Any) -> AsyncSlackResponse:
        """Call a method. `get`: its arguments go into the query, for methods that read no JSON. Raises FAILURES."""
        self._open()
        headers = {"Authorization": f"Bearer {token}"} if token else None
        if get:
            return await self.client.api_call(method, http_verb="GET", params=arguments, headers=headers)
        return await self.client.api_call(method, json=arguments, headers=headers)

    async def read(self, method: str, **arguments: Any) -> JsonObject:
        """Call a reading method, waiting when Slack says so. Raises `Unavailable`."""
        for _ in range(PATIENCE):
            try:
                return as_object((await self.call(method, get=True, **arguments)).data)
            except SlackApiError as error:
                wait = retry_after(error)
                if wait is None:
                    raise Unavailable(f"{method}: {describe(error)}") from error
                await asyncio.sleep(min(wait, MAX_WAIT))
            except FAILURES as error:
                raise Unavailable(f"{method}: {describe(error)}") from error
        raise Unavailable(f"{method}: too many calls")

    async def close(self) -> None:
        """Release connections."""
        session, self.client.session = self.client.session, None
        if session is not None:
            await session.close()

    def _open(self) -> None:
        if self.client.session is None:
            self.client.session = open_session(TIMEOUT)


async def pages(call: Callable[[str], Awaitable[JsonObject]], most: int) -> list[JsonObject]:
    """Follow a method's cursor for at most that many pages."""
    found, cursor = [], ""
    for _ in range(most):
        page = await call(cursor)
        found.append(page)
        meta = page.get("response_metadata")
        cursor = str(meta.get("next_cursor") or "") if isinstance(meta, dict) else ""
        if not cursor:
            break
    return found


def as_object(data: object) -> JsonObject:
    """Return an answer's JSON object. Raises `ValueError`."""
    if not isinstance(data, dict):
        raise ValueError("the answer is no object")
    return data


def error_code(error: BaseException) -> str:
    """Return Slack's word for what went wrong, empty where it gave none."""
    data = getattr(getattr(error, "response", None), "data", None)
    return str(data.get("error") or "") if isinstance(data, dict) else ""


def retry_after(error: SlackApiError) -> float | None:
    """Return the seconds that Slack asks us to wait, None when it is no such answer."""
    status = getattr(error.response, "status_code", 0)
    if status != 429 and error_code(error) != "ratelimited":
        return None
    said = str((getattr(error.response, "headers", None) or {}).get("Retry-After", ""))
    return float(said) if said.isascii() and said.isdigit() and len(said) < 7 else 1.0


def describe(error: BaseException) -> str:
    """Return what went wrong in a few words, without what was sent."""
    status = getattr(getattr(error, "response", None), "status_code", 0)
    words = [type(error).__name__, error_code(error), f"HTTP {status}" if status else ""]
    return ", ".join(word for word in words if word)


def silent_logger() -> logging.Logger:
    """Return a logger that says nothing: the SDKs log payloads and what people write."""
    logger = logging.getLogger("onevalet.slack")
    logger.setLevel(logging.CRITICAL)
    logger.disabled = True
    return logger
