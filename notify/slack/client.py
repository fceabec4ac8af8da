"""Slack's official client for sending: timeouts, silence, and never a call repeated behind our back."""

import logging

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from core.http.provider_session import open_session
from core.json_types import JsonObject
from notify.slack.errors import to_delivery_error

REAL_API_URL = "https://slack.com/api/"
CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 20.0


class SendingClient:
    """Hold one SDK client; its session is made at the first call, since it needs the running loop."""

    def __init__(self, *, bot_token: str, api_url: str, connect: float, total: float) -> None:
        self._timeouts = aiohttp.ClientTimeout(total=total, connect=connect)
        # By default the SDK repeats a call whose connection was lost, which may post twice.
        self._client = AsyncWebClient(token=bot_token, base_url=api_url, retry_handlers=[], logger=_silent_logger())

    async def call(self, method: str, arguments: JsonObject, *, get: bool = False) -> JsonObject:
        """Call a method. `get`: arguments go into the query, for methods that read no JSON.

        Raises `DeliveryError`: `Ambiguous` when a success cannot be read, too.
        """
        if self._client.session is None:
            self._client.session = open_session(self._timeouts)
        try:
            if get:
                answer = await self._client.api_call(method, http_verb="GET", params=arguments)
            else:
                answer = await self._client.api_call(method, json=arguments)
        except (SlackClientError, aiohttp.ClientError, OSError, ValueError, AttributeError, RecursionError) as error:
            # The last two: the SDK read what is no object, or nested without end.
            raise to_delivery_error(error) from error
        return answer.data if isinstance(answer.data, dict) else {}

    async def close(self) -> None:
        """Release connections."""
        session, self._client.session = self._client.session, None
        if session is not None:
            await session.close()


def _silent_logger() -> logging.Logger:
    """Return a logger that says nothing: the SDK logs what it sends."""
    logger = logging.getLogger("onevalet.slack")
    logger.setLevel(logging.CRITICAL)
    logger.disabled = True
    return logger
