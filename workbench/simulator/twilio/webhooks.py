"""Twilio calling the gateway: the signature, the connection overrides, the retries, and TwiML."""

import base64
import hashlib
import hmac
import re
import time
import uuid
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from urllib.parse import urlencode

import aiohttp

from workbench.simulator.base import Answer, NoAnswer, Wire


@dataclass(frozen=True, slots=True)
class Overrides:
    """The time limits and retries of a webhook, from its URL's fragment (docs:
    usage/webhooks/webhooks-connection-overrides).

    Seconds; `policy` says which failures are tried again: 4xx, 5xx, ct (no connection), rt (no answer in time), all.
    """

    connect: float = 5.0
    read: float = 15.0
    total: float = 15.0
    retries: int = 1
    policy: frozenset[str] = frozenset({"ct"})

    def again(self, outcome: Answer | NoAnswer) -> bool:
        if isinstance(outcome, NoAnswer):
            cause = {"connect_failed": "ct", "timeout": "rt", "reset": "all"}[outcome.reason]
        elif outcome.status < 400:
            return False
        else:
            cause = "5xx" if outcome.status >= 500 else "4xx"
        return cause in self.policy or "all" in self.policy


@dataclass(frozen=True, slots=True)
class Delivered:
    """The result of a webhook: the last outcome, and the number of attempts."""

    outcome: Answer | NoAnswer
    attempts: int

    @property
    def ok(self) -> bool:
        return isinstance(self.outcome, Answer) and self.outcome.ok

    @property
    def told(self) -> str:
        """Return the outcome in a word: a status, or why there was none."""
        return str(self.outcome.status) if isinstance(self.outcome, Answer) else self.outcome.reason


@dataclass(frozen=True, slots=True)
class Reply:
    """A <Message> of a TwiML answer."""

    body: str
    to: str = ""
    media: list[str] = field(default_factory=list)


class TwimlError(Exception):
    """An answer that Twilio cannot use; `code` is the debugger's (12100, 12300)."""

    def __init__(self, code: int, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def sign(token: str, url: str, form: dict[str, str]) -> str:
    """Sign as docs: usage/security has it: HMAC-SHA1 over the URL and the sorted parameters, no fragment."""
    text = url.split("#", 1)[0] + "".join(name + form[name] for name in sorted(form))
    return base64.b64encode(hmac.new(token.encode(), text.encode(), hashlib.sha1).digest()).decode()


def overrides_of(url: str) -> Overrides:
    """Read a URL's fragment; missing and invalid values keep their defaults."""
    fragment = url.partition("#")[2]
    given = dict(part.split("=", 1) for part in fragment.split("&") if "=" in part)
    usual = Overrides()
    policy = frozenset(part.strip().lower() for part in given.get("rp", "ct").split(","))
    return Overrides(
        connect=_seconds(given.get("ct"), 10_000, usual.connect),
        read=_seconds(given.get("rt"), 15_000, usual.read),
        total=_seconds(given.get("tt"), 15_000, usual.total),
        retries=int(given["rc"]) if re.fullmatch("[0-5]", given.get("rc", "")) else usual.retries,
        policy=policy if policy <= {"4xx", "5xx", "ct", "rt", "all"} else usual.policy,
    )


async def deliver(
    wire: Wire, endpoint: str, url: str, form: dict[str, str], about: str, method: str = "POST"
) -> Delivered:
    """Deliver a signed form, repeatedly if the overrides say so, all within their total time.

    With GET the parameters go into the query, and the signature covers that URL alone.
    """
    rules = overrides_of(url)
    if method == "GET":
        address = url.split("#", 1)[0]
        url, form = f"{address}{'&' if '?' in address else '?'}{urlencode(form)}", {}
    headers = {
        "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8",
        "User-Agent": "TwilioProxy/1.1",
        "Accept": "*/*",
        "X-Twilio-Signature": sign(wire.config.twilio.auth_token, url, form),
        # The same for all attempts of a delivery: it tells retries from new requests.
        "I-Twilio-Idempotency-Token": str(uuid.uuid4()),
    }
    body = urlencode(form).encode()
    begun, attempts = time.monotonic(), 0
    while True:
        left = rules.total - (time.monotonic() - begun) / wire.config.patience
        limit = aiohttp.ClientTimeout(
            total=max(left, 0.001), sock_connect=min(rules.connect, left), sock_read=min(rules.read, left)
        )
        attempts += 1
        outcome = await wire.call_gateway("twilio", endpoint, method, url, headers, body, about, limit)
        left = rules.total - (time.monotonic() - begun) / wire.config.patience
        if attempts > rules.retries or left <= 0 or not rules.again(outcome):
            return Delivered(outcome, attempts)


def replies_of(answer: Answer) -> list[Reply]:
    """Return the texts that an answer would send (docs: messaging/twiml). Raises TwimlError.

    Plain text is sent unchanged: a gateway that says "ok" texts "ok".
    """
    if not answer.body.strip():
        return []
    kind = answer.headers.get("Content-Type", "").split(";")[0].strip().lower()
    if kind == "text/plain":
        return [Reply(answer.body.decode("utf-8", "replace"))]
    if kind not in ("text/xml", "application/xml", "text/html"):
        raise TwimlError(12300, f"Invalid Content-Type: {kind}")
    try:
        root = ET.fromstring(answer.body)  # noqa: S314 - our own gateway's answer, in a simulator
    except ET.ParseError as error:
        raise TwimlError(12100, f"Document parse failure: {error}") from None
    if root.tag != "Response":
        raise TwimlError(12100, "Document parse failure: the root element is not Response")
    return [_reply(message) for message in root.findall("Message")]


def _reply(message: ET.Element) -> Reply:
    bodies = [body.text or "" for body in message.findall("Body")]
    media = [(item.text or "").strip() for item in message.findall("Media")]
    return Reply("".join(bodies) or (message.text or "").strip(), message.get("to", ""), media)


def _seconds(given: str | None, most: int, usual: float) -> float:
    if given is None or not given.isdecimal() or not 100 <= int(given) <= most:
        return usual
    return int(given) / 1000
