"""Twilio's official client with timeouts, our errors for its own, and no number in a log.

The important question is whether the request can have arrived: only then may it have been accepted.
"""

from typing import Self

import aiohttp
from twilio.http.async_http_client import AsyncTwilioHttpClient
from twilio.http.response import Response
from twilio.rest import Client

from core.errors import Ambiguous, RateLimited, Rejected, Unavailable
from core.http.provider_session import StrangeAnswer, is_object, open_session, retry_after, silent_logger
from providers.sms.wire import REAL_API_URL

CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 20.0


class TwilioApi:
    """An SDK client, created at the first call, since its session needs the running loop.

    `api_url` is an origin and may carry a path prefix. `connect` and `total` bound each call, in seconds.
    """

    def __init__(
        self,
        *,
        account_sid: str,
        auth_token: str,
        api_url: str,
        connect: float = CONNECT_SECONDS,
        total: float = TOTAL_SECONDS,
    ) -> None:
        self.api_url = api_url.rstrip("/")
        self._account_sid = account_sid
        self._auth_token = auth_token
        self._http = _HttpClient(aiohttp.ClientTimeout(total=total, connect=connect))
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """Return the SDK's client. Its calls raise `TwilioException` and the errors of `_HttpClient.request`."""
        if self._client is None:
            self._client = Client(
                self._account_sid,
                self._auth_token,
                http_client=self._http,
                credential_provider=_BasicCredentials(self._account_sid, self._auth_token),
            )
            self._client.api.base_url = self.api_url
            if self.api_url != REAL_API_URL:  # elsewhere, all of Twilio's domains share an origin
                self._client.messaging.base_url = self.api_url
                self._client.monitor.base_url = self.api_url
        return self._client

    async def close(self) -> None:
        await self._http.close()
        self._client = None


class _HttpClient:
    """The SDK's asynchronous client, raising our errors.

    It wraps the SDK's client, whose transport stays: the SDK calls nothing else of its client.
    """

    is_async = True

    def __init__(self, timeouts: aiohttp.ClientTimeout) -> None:
        self._timeouts = timeouts
        self._inner: AsyncTwilioHttpClient | None = None

    async def request(self, *args: object, **kwargs: object) -> Response:
        """Make a request.

        Raises `Unavailable` when Twilio never received it, `Ambiguous` when its answer was lost, `RateLimited`.
        """
        if self._inner is None:
            self._inner = AsyncTwilioHttpClient(pool_connections=False, logger=silent_logger("onevalet.twilio"))
            self._inner.session = open_session(self._timeouts)
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
            wait = retry_after((response.headers or {}).get("Retry-After"))
            raise RateLimited("too many requests", "20429", wait)
        if response.status_code < 500 and response.status_code != 204 and not is_object(response.text):
            # Twilio accepts and refuses in JSON: this is a proxy's page, or a captive portal's.
            raise Unavailable(f"no answer of Twilio's, HTTP {response.status_code}")
        return response

    async def close(self) -> None:
        if self._inner is not None:
            await self._inner.close()
            self._inner = None


class _BasicCredentials:
    """A ready-made Authorization header for the SDK, whose own basic authentication is deprecated."""

    def __init__(self, user: str, password: str) -> None:
        self._header = aiohttp.encode_basic_auth(user, password)

    def to_auth_strategy(self) -> Self:
        return self

    def get_auth_string(self) -> str:
        return self._header
