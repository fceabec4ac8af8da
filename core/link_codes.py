"""The codes by which a person links two places: how they are made, shown and stored."""

import hashlib
import secrets
from collections.abc import Callable
from datetime import timedelta

from core.pairing import LETTERS

LENGTH = 9
DIGITS = 2
"""A code has at least so many digits, so that no words are taken for one: more than 44 bits are left."""
VALID = timedelta(minutes=10)
MOST_CODES = 20
"""Codes that a person gets in a day."""
MOST_OF_SENDER = 5
MOST_OF_ACCOUNT = 50
GUESSES_WITHIN = timedelta(hours=1)
"""Wrong codes typed at one address, and on one account of a channel; people we know and strangers apart."""

LINKED = "Linked: from now on I take both places for you, with all that I keep for you."

type Choose = Callable[[str], str]
"""Chance: pick one of the letters."""


def new_link_code(choose: Choose = secrets.choice) -> str:
    """Make a code."""
    while True:
        code = "".join(choose(LETTERS) for _ in range(LENGTH))
        if sum(letter.isdigit() for letter in code) >= DIGITS:
            return code


def shown_code(code: str) -> str:
    """Write a code as it is read best."""
    return "-".join(code[at : at + 3] for at in range(0, LENGTH, 3))


def link_code_hash(code: str) -> bytes:
    """Give what is stored of a code, however it was typed: case, spaces and dashes do not count."""
    letters = "".join(letter for letter in code.upper() if letter.isalnum())
    return hashlib.sha256(b"onevalet linking " + letters.encode()).digest()
