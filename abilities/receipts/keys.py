"""The keys that sign receipts: Ed25519, made of ONEVALET_SECRET_KEYS, whose public part lets anybody check a file."""

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from core.credentials.secret_keys import SecretKeys

_PURPOSE = b"onevalet receipts"
_GROUPS = range(0, 32, 4)


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key of an installation's. The same secret key always makes the same one."""

    _private: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def of(cls, secret: bytes) -> Self:
        """Return the key that a secret key makes."""
        return cls(Ed25519PrivateKey.from_private_bytes(hmac.digest(secret, _PURPOSE, "sha256")))

    @property
    def public(self) -> bytes:
        return self._private.public_key().public_bytes_raw()

    def sign(self, text: bytes) -> bytes:
        return self._private.sign(text)


def signing_keys(keys: SecretKeys) -> tuple[SigningKey, ...]:
    """Return the keys of an installation: the first signs, and the others signed earlier files."""
    return tuple(SigningKey.of(key.value) for key in keys.all)


def fingerprint(public: bytes) -> str:
    """Return the form in which people compare a key: eight groups of four characters."""
    digest = hashlib.sha256(public).hexdigest()
    return "-".join(digest[at : at + 4] for at in _GROUPS)


def is_signed_by(public: bytes, text: bytes, signature: bytes) -> bool:
    """Return whether a key made a signature."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True
