"""AES-256-GCM for values in the database: a sealed value opens only in the place that it was sealed for.

A sealed value is a random 96-bit nonce (NIST SP 800-38D, 8.2.2), then ciphertext with its tag. The place is the
associated data, which is not stored with the value: a value that was moved to another place does not open.
"""

import json
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from core.credentials.secret_keys import KEY_BYTES, SecretKey
from core.errors import OneValetError

NONCE_BYTES = 12


class CannotOpen(OneValetError):
    """A sealed value was changed, moved, or sealed under another key."""


def seal(key: bytes, plain: bytes, *place: str | int) -> bytes:
    """Seal bytes for a single place, such as a tenant, a service and an account."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plain, _associated(place))


def open_sealed(key: bytes, sealed: bytes, *place: str | int) -> bytes:
    """Open a sealed value; raises `CannotOpen` for another key, another place or changed bytes."""
    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _associated(place))
    except (InvalidTag, ValueError) as error:
        raise CannotOpen("a sealed value does not open here") from error


def make_data_key() -> bytes:
    return os.urandom(KEY_BYTES)


def wrap(secret_key: SecretKey, data_key: bytes, tenant_id: str, version: int) -> bytes:
    """Seal a tenant's data key under a secret key."""
    return seal(secret_key.value, data_key, "data key", tenant_id, version, secret_key.id)


def unwrap(secret_key: SecretKey, wrapped: bytes, tenant_id: str, version: int) -> bytes:
    """Open a tenant's data key; raises `CannotOpen`."""
    return open_sealed(secret_key.value, wrapped, "data key", tenant_id, version, secret_key.id)


def _associated(place: tuple[str | int, ...]) -> bytes:
    # JSON separates the parts: ("ab", "c") and ("a", "bc") are different places.
    return json.dumps(place).encode()
