"""Proof that a request is Slack's: the v0 signature over time and raw body, checked without ever raising.

The official verifier raises on a timestamp that is not a number, a signature that is not ASCII, or a body that is
not UTF-8, and each of these would become a 500. Source: docs.slack.dev, authentication/verifying-requests-from-slack.
"""

import hashlib
import hmac

MAX_AGE = 300
"""In seconds, either way: an older request may be a replay."""


def is_signed(secret: str, body: bytes, timestamp: str | None, signature: str | None, now: float) -> bool:
    """Return whether `signature` is Slack's for this body at this time.

    `now` is the machine's own time, Unix seconds. Total: False for anything that cannot be a signed request.
    """
    if not secret or timestamp is None or signature is None:
        return False
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12 and signature.isascii()):
        return False
    expected = sign(secret, body, timestamp)
    return hmac.compare_digest(expected, signature) and abs(now - int(timestamp)) <= MAX_AGE


def sign(secret: str, body: bytes, timestamp: str) -> str:
    digest = hmac.new(secret.encode(), b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256)
    return f"v0={digest.hexdigest()}"
