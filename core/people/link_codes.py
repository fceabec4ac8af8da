"""The codes by which a person links two places: how they are made, shown and stored."""

import hashlib
import secrets
from collections.abc import Callable
from datetime import timedelta

from core.people.pairing import LETTERS

LENGTH = 9
DIGITS = 2
"""A code has at least so many digits, so that no words are taken for one: more than 44 bits are left."""
VALID = timedelta(minutes=10)
MAX_CODES = 20
"""Codes that a person gets in a day."""
MAX_GUESSES_PER_SENDER = 5
GUESSES_WITHIN = timedelta(hours=1)
"""Wrong codes typed at one address. Those of others never count: nobody may lock linking for somebody else."""

AGREED = "AGREE"
"""The word behind a code by which a person agrees to its link, once they were asked."""

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


def read_code(said: str) -> tuple[str, bool]:
    """Return the code in what stood behind the command, and whether its typer agrees."""
    words = said.split()
    agreed = len(words) > 1 and words[-1].upper() == AGREED
    return "".join(words[:-1] if agreed else words), agreed


def link_code_hash(code: str) -> bytes:
    """Return what is stored of a code, however it was typed: case, spaces and dashes do not count."""
    letters = "".join(letter for letter in code.upper() if letter.isalnum())
    return hashlib.sha256(b"onevalet linking " + letters.encode()).digest()
