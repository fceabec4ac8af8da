"""Proof that an event comes from its source: a check for each style, on the raw body, in constant time; pure."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping

from multidict import CIMultiDictProxy

from abilities.events.source_types import EventSource, Style
from abilities.events.sources import hash_secret
from core.errors import RequestRefused

MAX_AGE = 300
"""The tolerance of a signed time, in seconds either way."""
MAX_SIGNATURES = 10
"""Stripe sends several while a secret is rolled; nobody sends more than this."""

SIGNATURE_HEADERS: Mapping[Style, str] = {
    Style.BEARER: "Authorization",
    Style.HMAC: "X-Signature",
    Style.GITHUB: "X-Hub-Signature-256",
    Style.STRIPE: "Stripe-Signature",
}

type Headers = CIMultiDictProxy[str]


def bearer_of(headers: Headers) -> str:
    """Return the secret of `Authorization: Bearer`, empty if there is none."""
    scheme, _, secret = one_header(headers, "Authorization").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def check_proof(source: EventSource, headers: Headers, body: bytes, now: float) -> None:
    """Raise `RequestRefused` (401) unless the source itself sent this. `now` in Unix seconds."""
    name = source.options.signature_header or SIGNATURE_HEADERS[source.style]
    given = one_header(headers, name)
    match source.style:
        case Style.BEARER:
            secret = bearer_of(headers) if name.lower() == "authorization" else given
            proven = bool(secret) and hmac.compare_digest(hash_secret(secret), source.secret_hash)
        case Style.HMAC:
            proven = _is_signed(source, headers, given, body, now)
        case Style.GITHUB:
            # docs.github.com, "Validating webhook deliveries"
            proven = given.startswith("sha256=") and _matches(source.secret, body, given)
        case Style.STRIPE:
            proven = _is_stripes(source.secret, given, body, now)
    if not proven:
        raise RequestRefused("event not proven", status=401)


def one_header(headers: Headers, name: str) -> str:
    """Return a header that may occur once at most. Raises `RequestRefused`."""
    values = headers.getall(name, [])
    if len(values) > 1:
        raise RequestRefused("header repeated")
    return values[0].strip() if values else ""


def _is_signed(source: EventSource, headers: Headers, given: str, body: bytes, now: float) -> bool:
    if not source.options.timestamp_header:
        return _matches(source.secret, body, given)
    timestamp = one_header(headers, source.options.timestamp_header)
    return _is_fresh(timestamp, now) and _matches(source.secret, timestamp.encode() + b"." + body, given)


def _is_stripes(secret: bytes, given: str, body: bytes, now: float) -> bool:
    """docs.stripe.com/webhooks, "Verify webhook signatures manually": t=time,v1=hex[,v1=hex]."""
    pairs = [item.partition("=")[::2] for item in given.split(",")[: MAX_SIGNATURES + 1]]
    times = [value.strip() for name, value in pairs if name.strip() == "t"]
    signatures = [value.strip() for name, value in pairs if name.strip() == "v1"]
    if len(times) != 1 or not _is_fresh(times[0], now):
        return False
    signed = times[0].encode() + b"." + body
    proven = [_matches(secret, signed, signature) for signature in signatures]  # all of them, whichever is right
    return any(proven)


def _is_fresh(timestamp: str, now: float) -> bool:
    return timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 12 and abs(now - int(timestamp)) <= MAX_AGE


def _matches(secret: bytes, signed: bytes, given: str) -> bool:
    """Compare with a signature in hex or base64, with or without `sha256=` before it."""
    given = given.removeprefix("sha256=")
    try:
        signature = bytes.fromhex(given) if len(given) == 64 else base64.b64decode(given, validate=True)
    except (ValueError, binascii.Error):
        return False
    return hmac.compare_digest(hmac.new(secret, signed, hashlib.sha256).digest(), signature)
