"""Proof that a request is Twilio's: X-Twilio-Signature, checked without ever raising.

The official validator raises on a missing header, an odd port or bytes that are not text, and each of these
would become a 500. Source: twilio.com/docs/usage/webhooks/webhooks-security.
"""

import base64
import hashlib
import hmac
from collections.abc import Iterable
from urllib.parse import urlsplit

type FormPairs = tuple[tuple[str, str], ...]

_DEFAULT_PORTS = {"http": 80, "https": 443}


def is_signed(auth_token: str, url: str, pairs: Iterable[tuple[str, str]], signature: str | None) -> bool:
    """Return whether `signature` is Twilio's for this URL and form.

    `url` is the public URL with the raw request target, as Twilio called it; `pairs` are the decoded form fields.
    Total: False for anything that cannot be a signed request. Every candidate is computed and compared in constant
    time.
    """
    if not auth_token or not signature:
        return False
    try:
        given = signature.encode("ascii")
        fields = _signed_fields(pairs)
        key = auth_token.encode()
        candidates = [_sign(key, candidate.encode() + fields) for candidate in _url_candidates(url)]
    except ValueError:  # not ASCII, no Unicode text, or no URL
        return False
    matches = [hmac.compare_digest(candidate, given) for candidate in candidates]
    return any(matches)


def sign(auth_token: str, url: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Compute the header for a URL exactly as written."""
    return _sign(auth_token.encode(), url.encode() + _signed_fields(pairs)).decode("ascii")


def _sign(key: bytes, text: bytes) -> bytes:
    return base64.b64encode(hmac.new(key, text, hashlib.sha1).digest())


def _signed_fields(pairs: Iterable[tuple[str, str]]) -> bytes:
    """Join names and values, sorted by name; a value that is sent twice counts once."""
    return "".join(name + value for name, value in sorted(set(pairs))).encode()


def _url_candidates(url: str) -> tuple[str, ...]:
    """Return the URL with and without its port: Twilio signs either form."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    if parts.port is None:
        port = _DEFAULT_PORTS.get(parts.scheme)
        other = f"{host.rstrip(':')}:{port}" if port else host
    else:
        other = host.rpartition(":")[0]
    head, _, tail = url.partition(parts.netloc)
    return (url, head + user + at + other + tail) if parts.netloc else (url,)
