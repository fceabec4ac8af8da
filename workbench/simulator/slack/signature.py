"""Sign requests to the gateway: authentication/verifying-requests-from-slack."""

import hashlib
import hmac


def signed_headers(secret: str, at: float, body: bytes) -> dict[str, str]:
    """Return the two headers that prove a request's origin: v0, over the timestamp and the raw body."""
    stamp = str(int(at))
    digest = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}
