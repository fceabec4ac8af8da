"""Link codes, by which a person links two places: creating, displaying and hashing them."""

import hashlib
import secrets
from datetime import timedelta

from core.people.pairing import LETTERS

LENGTH = 9
DIGITS = 2
"""Digits that a code has at least, so that no word looks like a code: more than 44 bits are left."""
VALID = timedelta(minutes=10)
MAX_CODES = 20
"""Codes of a person in a day."""
MAX_GUESSES_PER_SENDER = 5
GUESSES_WITHIN = timedelta(hours=1)
"""The window of the limit for an address. Other people's guesses never count: nobody can block linking for others."""

AGREED = "AGREE"
"""The word after a code by which a person agrees to the link, in reply to the question."""


def new_link_code(partition: str = "") -> str:
    """Return a random code; in front the digits of a partition (`partition_of`), if it is not 0."""
    while True:
        code = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
        if sum(letter.isdigit() for letter in code) >= DIGITS:
            return partition[:2] + code


def shown_code(code: str) -> str:
    partition, code = code[:-LENGTH], code[-LENGTH:]
    return "-".join(filter(None, (partition, *(code[at : at + 3] for at in range(0, LENGTH, 3)))))


def read_code(argument: str) -> tuple[str, bool]:
    """Return the code in a command's argument, and whether the person agrees."""
    words = argument.split()
    agreed = len(words) > 1 and words[-1].upper() == AGREED
    return "".join(words[:-1] if agreed else words), agreed


def link_code_hash(code: str) -> bytes:
    """Return the stored hash of a code; case, spaces and dashes do not matter."""
    letters = "".join(letter for letter in code.upper() if letter.isalnum())
    return hashlib.sha256(b"onevalet linking " + letters.encode()).digest()
