"""The id maker, handed in so that tests can foresee ids."""

import os
import time
from typing import Protocol

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_SHIFTS = range(120, -1, -10)


class IdMaker(Protocol):
    """Return an id that is never reused: `prefix` names the kind of row."""

    def __call__(self, prefix: str) -> str: ...


def make_id(prefix: str) -> str:
    """Return an id such as `msg_01j9...`: sorted by time of making, 80 random bits."""
    value = (int(time.time() * 1000) << 80) | int.from_bytes(os.urandom(10))
    return f"{prefix}_{''.join([_PAIRS[value >> shift & 1023] for shift in _SHIFTS])}"
