"""Proof that a request is Telegram's: the secret token that we gave it with the webhook; pure.

Source: core.telegram.org/bots/api#setwebhook, secret_token.
"""

import hmac


def is_secret(secret: str, token: str | None) -> bool:
    """Return whether `token` is our secret, in constant time. Total: no secret or no token is False."""
    if not secret or token is None:
        return False
    return hmac.compare_digest(token.encode("utf-8", "surrogatepass"), secret.encode())
