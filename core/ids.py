"""The id maker, handed in so that tests can foresee ids, and the partition that ids and tokens name."""

import os
import re
import secrets
import time
from typing import Protocol

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_SHIFTS = range(120, -1, -10)

PARTITION = r"(?:[0-9]{2}\.)?"
"""The pattern of the partition's name at the beginning of ids and tokens: empty in partition 0."""
_PARTITION = re.compile(PARTITION)


class IdMaker(Protocol):
    """Return an id that is never reused: `prefix` names the kind of row."""

    def __call__(self, prefix: str) -> str: ...


def make_id(prefix: str) -> str:
    """Return an id such as `msg_01j9...`: sorted by time of making, 80 random bits."""
    value = (int(time.time() * 1000) << 80) | int.from_bytes(os.urandom(10))
    return f"{prefix}_{''.join([_PAIRS[value >> shift & 1023] for shift in _SHIFTS])}"


def new_token() -> str:
    """Return the random token of the buttons of a card or a question: 128 bits, which prove nothing by themselves."""
    return secrets.token_urlsafe(16)


def partition_of(name: str) -> str:
    """Return the beginning of a person's id, or of a token, that names its partition: `01.`, or nothing for 0."""
    found = _PARTITION.match(name)
    return found[0] if found else ""


def for_person(tenant_id: str, token: str) -> str:
    """Return a token of a person's that names their partition, so that any server that gets it knows which to ask."""
    return partition_of(tenant_id) + token
