"""ONEVALET_SECRET_KEYS: the keys that wrap people's data keys, newest first."""

import base64
import binascii
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class SecretKey:
    """A key of the operator's. Its `id` in the database reveals nothing about it."""

    id: str
    value: bytes = field(repr=False)


class SecretKeys:
    """The keys in order: the first wraps, all unwrap."""

    def __init__(self, keys: Iterable[SecretKey]) -> None:
        """Raises `ValueError` if there are no keys."""
        self._keys = {key.id: key for key in keys}
        if not self._keys:
            raise ValueError("there is no secret key")

    @classmethod
    def from_text(cls, *texts: str) -> "SecretKeys":
        """Read keys as ONEVALET_SECRET_KEYS has them, each in base64, the newest first. Raises `ValueError`."""
        return cls(read_secret_key(text) for text in texts)

    @property
    def newest(self) -> SecretKey:
        return next(iter(self._keys.values()))

    @property
    def all(self) -> tuple[SecretKey, ...]:
        """Return the keys, the newest first."""
        return tuple(self._keys.values())

    def find(self, id: str) -> SecretKey | None:
        return self._keys.get(id)


def read_secret_key(text: str) -> SecretKey:
    """Parse a key from base64. Raises `ValueError` with a message that does not quote it."""
    try:
        value = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("each key must be base64, such as `openssl rand -base64 32` makes") from error
    if len(value) != KEY_BYTES:
        raise ValueError(f"each key must be base64 of {KEY_BYTES} bytes, and one is of {len(value)}")
    return SecretKey(hashlib.sha256(b"onevalet secret key id\0" + value).hexdigest()[:16], value)
