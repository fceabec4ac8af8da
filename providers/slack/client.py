"""Slack's official client, pointed at the configured API, with timeouts, silent, and never repeating a call."""

import asyncio
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from core.errors import DeliveryError, RateLimited, Unavailable
from core.http.provider_session import open_session, silent_logger
from core.json_types import JsonObject
from providers.slack.errors import FAILURES, to_delivery_error

CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 20.0
UPLOAD_SECONDS = 30.0
PATIENCE = 5
"""Maximum number of waits of a read that Slack delays."""
MAX_WAIT = 60.0
"""In seconds."""
WAIT = 1.0
"""In seconds, if Slack does not name a time."""


class SlackApi:
    """An SDK client; its session is created at the first call, since it needs the running loop.

    `connect` and `total` bound each call, in seconds.
    """

    def __init__(
        self, *, bot_token: str, api_url: str, connect: float = CONNECT_SECONDS, total: float = TOTAL_SECONDS
    ) -> None:
        self.logger = silent_logger("onevalet.slack")
        self.timeouts = aiohttp.ClientTimeout(total=total, connect=connect)
        # By default the SDK repeats a call whose connection was lost, which may post twice.
        self.client = AsyncWebClient(token=bot_token, base_url=api_url, retry_handlers=[], logger=self.logger)

    async def call(
        self, method: str, arguments: JsonObject | None = None, *, get: bool = False, token: str | None = None
    ) -> JsonObject:
        """Call a method. `get`: arguments go into the query, for methods that read no JSON.

        `token` replaces the bot's own. Raises `DeliveryError`: `Ambiguous` when a success cannot be read, too.
        """
        answer = await self._call(method, arguments, get=get, token=token)
        return answer.data if isinstance(answer.data, dict) else {}

    async def read(self, method: str, arguments: JsonObject) -> JsonObject:
        """Call a reading method, waiting when Slack says so. Raises `Unavailable`."""
        for _ in range(PATIENCE):
            try:
                return await self.call(method, arguments, get=True)
            except RateLimited as error:
                wait = error.retry_after.total_seconds() if error.retry_after else WAIT
                await asyncio.sleep(min(wait, MAX_WAIT))
            except DeliveryError as error:
                raise Unavailable(f"{method}: {error}", error.code) from error
        raise Unavailable(f"{method}: too many calls")

    async def authenticate(self) -> tuple[JsonObject, frozenset[str]]:
        """Return the bot token's identity and its scopes, a header of every answer. Raises `DeliveryError`."""
        answer = await self._call("auth.test", None, get=False, token=None)
        scopes = str(answer.headers.get("x-oauth-scopes", ""))
        data = answer.data if isinstance(answer.data, dict) else {}
        return data, frozenset(scope.strip() for scope in scopes.split(",") if scope.strip())

    async def upload(self, url: str, data: bytes) -> None:
        """Post a file to the address that Slack gave for it. Raises `DeliveryError`."""
        given, api = urlsplit(url), urlsplit(self.client.base_url)
        # Its port may differ: with an emulated Slack, calls may go through a proxy.
        ours = (given.scheme, given.hostname) == (api.scheme, api.hostname)
        if not ours and not (given.scheme == "https" and f".{given.hostname}".endswith(".slack.com")):
            raise Unavailable("the address for the file is not Slack's")
        session = self.client.session = self.client.session or open_session(self.timeouts)
        limit = aiohttp.ClientTimeout(total=UPLOAD_SECONDS, connect=self.timeouts.connect)
        headers = {"Content-Type": "application/octet-stream"}
        try:
            async with session.post(url, data=data, headers=headers, timeout=limit) as answer:
                await answer.read()
                status = answer.status
        except FAILURES as error:
            raise to_delivery_error(error) from error
        if status != 200:
            raise Unavailable(f"the file was not taken, HTTP {status}", str(status))

    async def close(self) -> None:
        session, self.client.session = self.client.session, None
        if session is not None:
            await session.close()

    async def _call(
        self, method: str, arguments: JsonObject | None, *, get: bool, token: str | None
    ) -> AsyncSlackResponse:
        if self.client.session is None:
            self.client.session = open_session(self.timeouts)
        headers = {"Authorization": f"Bearer {token}"} if token else None
        try:
            if get:
                return await self.client.api_call(method, http_verb="GET", params=arguments or {}, headers=headers)
            return await self.client.api_call(method, json=arguments or {}, headers=headers)
        except FAILURES as error:
            raise to_delivery_error(error) from error


def next_cursor(page: JsonObject) -> str | None:
    """Return the cursor of a listing's next page, None at its end."""
    meta = page.get("response_metadata")
    cursor = meta.get("next_cursor") if isinstance(meta, dict) else None
    return str(cursor) if cursor else None
