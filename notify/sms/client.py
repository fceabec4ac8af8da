"""Twilio's official client for sending, with every failure of the wire told apart.

What counts is whether the request can have arrived: only then may it have been accepted.
"""

import logging
from typing import Self

import aiohttp
from twilio.http.async_http_client import AsyncTwilioHttpClient
from twilio.http.response import Response
from twilio.rest import Client

from core.errors import Ambiguous, RateLimited, Rejected, Unavailable
from core.http.provider_session import StrangeAnswer, is_object, open_session, retry_after

REAL_API_URL = "https://api.twilio.com"
CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 20.0


class SendingHttpClient:
    """The SDK's asynchronous client with timeouts, silent about numbers, raising errors of ours.

    It stands around the SDK's rather than below it: the SDK asks its client for no more than this.
    """

    is_async = True

    def __init__(self, *, connect: float, total: float) -> None:
        self._timeouts = aiohttp.ClientTimeout(total=total, connect=connect)
        self._inner: AsyncTwilioHttpClient | None = None

    async def request(self, *args: object, **kwargs: object) -> Response:
        """Make one request.

        Raises `Unavailable` when Twilio never had it, `Ambiguous` when its answer was lost, `RateLimited`.
        """
        if self._inner is None:
            self._inner = _make_inner(self._timeouts)
        try:
            response = await self._inner.request(*args, **kwargs)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise Unavailable(f"no connection: {type(error).__name__}") from error
        except aiohttp.InvalidURL as error:
            raise Rejected("the API URL is no URL") from error
        except StrangeAnswer as error:
            raise (Ambiguous if error.status >= 500 else Unavailable)(str(error)) from error
        except (aiohttp.ClientError, TimeoutError, OSError, UnicodeDecodeError) as error:
            raise Ambiguous(f"answer lost: {type(error).__name__}") from error
        if response.status_code == 429:  # "never processed, always safe to retry": error 20429
            said = (response.headers or {}).get("Retry-After")
            raise RateLimited("too many requests", "20429", retry_after(said))
        if response.status_code < 500 and not is_object(response.text):
            # Twilio says yes and no in JSON: this is a proxy's page, or a captive portal's.
            raise Unavailable(f"no answer of Twilio's, HTTP {response.status_code}")
        return response

    async def close(self) -> None:
        """Release connections."""
        if self._inner is not None:
            await self._inner.close()
            self._inner = None


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


def make_client(account_sid: str, auth_token: str, api_url: str, http: SendingHttpClient) -> Client:
    """Make the SDK's client; `api_url` is an origin and may carry a path prefix."""
    credentials = BasicCredentials(account_sid, auth_token)
    client = Client(account_sid, auth_token, http_client=http, credential_provider=credentials)
    client.api.base_url = api_url.rstrip("/")
    return client


def _make_inner(timeouts: aiohttp.ClientTimeout) -> AsyncTwilioHttpClient:
    logger = logging.getLogger("onevalet.twilio")
    logger.disabled = True  # the SDK logs the numbers in its queries
    inner = AsyncTwilioHttpClient(pool_connections=False, logger=logger)
    inner.session = open_session(timeouts)
    return inner
