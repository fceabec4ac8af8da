"""The id maker, handed in so that tests can foresee ids."""

import secrets
import time
from typing import Protocol

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class IdMaker(Protocol):
    """Return an id that is never reused: `prefix` names the kind of row."""

    def __call__(self, prefix: str) -> str: ...


def make_id(prefix: str) -> str:
    """Return an id such as `msg_01j9...`: sorted by time of making, 80 random bits."""
    value = (int(time.time() * 1000) << 80) | secrets.randbits(80)
    letters = []
    for _ in range(26):
        value, rest = divmod(value, 32)
        letters.append(_ALPHABET[rest])
    return f"{prefix}_{''.join(reversed(letters))}"
