"""Signatures as Standard Webhooks says (https://www.standardwebhooks.com), version 1: HMAC-SHA256 in base64. Pure."""

import base64
import hashlib
import hmac
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from core.credentials.secret_keys import SecretKeys

OVERLAP = timedelta(days=1)
"""The time for which the secret before a rotation signs too: receivers change it without losing a message."""


def secrets_of(
    keys: SecretKeys, endpoint_id: str, generation: int, rotated_at: datetime | None, now: datetime
) -> list[bytes]:
    """Return the secrets of an endpoint, the newest first.

    They are computed, so that none is stored: each key of ONEVALET_SECRET_KEYS makes one, and so does the generation
    before, for a while.
    """
    generations = [generation]
    if rotated_at is not None and now - rotated_at < OVERLAP:
        generations.append(generation - 1)
    return [_secret(key.value, endpoint_id, number) for number in generations for key in keys.all]


def as_text(secret: bytes) -> str:
    """Return a secret as its receiver types it."""
    return f"whsec_{base64.b64encode(secret).decode()}"


def signed_headers(message_id: str, at: datetime, body: bytes, secrets: Iterable[bytes]) -> Mapping[str, str]:
    """Return the headers of a message that is sent at a moment."""
    timestamp = str(int(at.timestamp()))
    signed = f"{message_id}.{timestamp}.".encode() + body
    signatures = (base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode() for secret in secrets)
    return {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def _secret(key: bytes, endpoint_id: str, generation: int) -> bytes:
    return hmac.digest(key, f"onevalet webhook\0{endpoint_id}\0{generation}".encode(), hashlib.sha256)
