"""The way out by push: ntfy, and anything else that Apprise supports through an Apprise API.

An address is a topic of the operator's ntfy server (account `ntfy`), or a key of their Apprise API (account `apprise`).
"""

import json
from datetime import datetime, timedelta

import aiohttp

from core.errors import Ambiguous, CredentialsRejected, DeliveryError, RateLimited, Rejected, Unavailable, Unreachable
from core.http.provider_session import StrangeAnswer, open_session, retry_after
from core.json_types import JsonObject, read_json
from core.messaging.channels import Part, Receipt, Target
from core.messaging.messages import Address, OutboundMessage
from notify.push.render import render

REAL_NTFY_URL = "https://ntfy.sh"
NTFY, APPRISE = "ntfy", "apprise"
CONNECT_SECONDS = 3.0
TOTAL_SECONDS = 9.0
SKEW = timedelta(seconds=5)
_JSON = {"Content-Type": "application/json"}


class PushNotification:
    """Publish to ntfy topics and Apprise keys. `ntfy_token`: an access token of that server."""

    name = "push"
    can_find = True
    resend_unknown = False

    def __init__(self, *, ntfy_url: str = REAL_NTFY_URL, ntfy_token: str = "", apprise_url: str = "") -> None:
        self._ntfy_url = ntfy_url.rstrip("/")
        self._apprise_url = apprise_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {ntfy_token}"} if ntfy_token else {}
        self._session: aiohttp.ClientSession | None = None

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        return render(message)

    async def send(self, part: Part, to: Target) -> Receipt:
        if to.address.account == APPRISE:
            return await self._send_apprise(part, to)
        # docs.ntfy.sh/publish, "Publish as JSON": to the root, so that no text stands in a header.
        body: JsonObject = {"topic": to.address.peer, "message": part.text, "markdown": True, **part.data}
        answer = await self._ask("POST", f"{self._ntfy_url}/", body, self._headers)
        try:
            match read_json(answer):
                case {"id": number}:
                    return Receipt(str(number))
        except ValueError as error:
            raise Ambiguous("answer cannot be read") from error
        raise Ambiguous("answer names no message")

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        if to.address.account == APPRISE:
            raise Unavailable("Apprise does not tell what was sent")
        # docs.ntfy.sh/subscribe/api, "Poll for messages"
        url = f"{self._ntfy_url}/{to.address.peer}/json?poll=1&since={int((since - SKEW).timestamp())}"
        try:
            answer = await self._ask("GET", url, None, self._headers)
            held = [read_json(line) for line in answer.splitlines() if line.strip()]
        except (DeliveryError, ValueError) as error:
            raise Unavailable(f"the topic cannot be read: {error}") from error
        for message in held:
            if isinstance(message, dict) and message.get("event") == "message" and message.get("message") == part.text:
                return Receipt(str(message.get("id", "")))
        return None

    async def ask_health(self, server: str) -> None:
        """Ask a server, by its account's name, whether it serves us. Raises `DeliveryError`."""
        if server == APPRISE:
            # github.com/caronc/apprise-api, "Health Checks"
            await self._ask("GET", f"{self._apprise_url}/status", None, {"Accept": "application/json"})
            return
        # docs.ntfy.sh/publish and /config: the token's account, which refuses a wrong token, or else the health.
        path = "v1/account" if self._headers else "v1/health"
        await self._ask("GET", f"{self._ntfy_url}/{path}", None, self._headers)

    async def show_working(self, to: Address) -> None: ...

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _send_apprise(self, part: Part, to: Target) -> Receipt:
        if not self._apprise_url:
            raise Rejected("APPRISE_URL is not set")
        # github.com/caronc/apprise-api, "Persistent (Stateful) Storage Solution"
        body: JsonObject = {"body": part.text, "type": "info", "format": "markdown", **part.data}
        await self._ask("POST", f"{self._apprise_url}/notify/{to.address.peer}", body, {"Accept": "application/json"})
        return Receipt(f"apprise-{to.ref}")

    async def _ask(self, method: str, url: str, body: JsonObject | None, headers: dict[str, str]) -> bytes:
        try:
            # As UTF-8: in escapes a text of Chinese or of emoji would take up to three times the room.
            data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
            async with self._client().request(method, url, data=data, headers=_JSON | headers) as answer:
                read = await answer.read()
                _check(answer.status, answer.headers.get("Retry-After", ""))
                if answer.content_type == "text/html":
                    # Both answer in JSON: this is a captive portal's page.
                    raise Unavailable("a page, not an answer of the server")
                return read
        except StrangeAnswer as error:
            raise (Ambiguous if error.status >= 500 else Unavailable)(str(error)) from error
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL) as error:
            raise Unavailable(f"no connection: {type(error).__name__}") from error
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Ambiguous(f"answer lost: {type(error).__name__}") from error

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=TOTAL_SECONDS, sock_connect=CONNECT_SECONDS)
            self._session = open_session(timeout)
        return self._session


def _check(status: int, wait: str) -> None:
    """Raise the error that an answer's status means."""
    match status:
        case 204:
            raise Unreachable("Apprise knows no target under this key", "204")
        case 429:
            raise RateLimited("too many requests", "429", retry_after(wait))
        case 401 | 403:
            raise CredentialsRejected("the server refuses our token or this topic", str(status))
        case 424:
            raise Ambiguous("some of Apprise's targets failed", "424")
        case 408 | 500 | 502 | 503 | 504:
            raise Ambiguous(f"HTTP {status}", str(status))
    if not 200 <= status < 300:
        raise Rejected(f"HTTP {status}", str(status))
