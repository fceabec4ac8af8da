"""Twilio's official client, pointed at the configured origin, with timeouts and silent about numbers."""

import logging
from importlib import import_module
from typing import Self

import aiohttp
from twilio.base.exceptions import TwilioException
from twilio.http.async_http_client import AsyncTwilioHttpClient
from twilio.rest import Client

from core.http.provider_session import open_session

REAL_API_URL = "https://api.twilio.com"
TIMEOUT = aiohttp.ClientTimeout(total=30, connect=5, sock_read=20)

FAILURES = (TwilioException, aiohttp.ClientError, TimeoutError, OSError, ValueError)
"""What a call through the client may raise; ValueError is an answer that is no JSON."""


class BasicCredentials:
    """Give the SDK its Authorization header ready made: its own way of basic authentication is deprecated."""

    def __init__(self, user: str, password: str) -> None:
        self._header = aiohttp.encode_basic_auth(user, password)

    def to_auth_strategy(self) -> Self:
        """Answer the SDK's question for a strategy."""
        return self

    def get_auth_string(self) -> str:
        """Return the header's value."""
        return self._header


class TwilioApi:
    """Hold one SDK client; made at the first call, since its session needs the running loop."""

    def __init__(self, *, account_sid: str, auth_token: str, api_url: str) -> None:
        self.api_url = api_url.rstrip("/")
        self._account_sid = account_sid
        self._auth_token = auth_token
        self._http: AsyncTwilioHttpClient | None = None
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """Return the SDK's client."""
        if self._client is None:
            self._http = _make_http()
            self._client = Client(
                self._account_sid,
                self._auth_token,
                http_client=self._http,
                credential_provider=BasicCredentials(self._account_sid, self._auth_token),
            )
            self._client.api.base_url = self.api_url
            if self.api_url != REAL_API_URL:  # elsewhere, all of Twilio's domains are one origin
                self._client.messaging.base_url = self.api_url
        return self._client

    async def close(self) -> None:
        """Release connections."""
        if self._http is not None:
            await self._http.close()
        self._http = self._client = None


def load_sdk() -> None:
    """Import what the SDK leaves until its first call: half a second in which webhooks would wait."""
    for module in ("twilio.rest.api", "twilio.rest.messaging"):
        import_module(module)


def describe(error: BaseException) -> str:
    """Return what went wrong in a few words without numbers or addresses of people."""
    code = getattr(error, "code", None)
    status = getattr(error, "status", None)
    if status is None and isinstance(error, TwilioException) and len(error.args) > 1:
        status = getattr(error.args[1], "status_code", None)
    words = [type(error).__name__]
    if status:
        words.append(f"HTTP {status}")
    if code and code != status:
        words.append(f"code {code}")
    return ", ".join(words)


def _make_http() -> AsyncTwilioHttpClient:
    http = AsyncTwilioHttpClient(pool_connections=False, logger=_silent_logger())
    http.session = open_session(TIMEOUT)
    return http


def _silent_logger() -> logging.Logger:
    """Return a logger that says nothing: the SDK logs the numbers in its queries."""
    logger = logging.getLogger("onevalet.twilio")
    logger.disabled = True
    return logger
