"""Finds English that is left in what a person of another language reads."""

import re
from functools import cache
from string import Formatter

from core.language.catalogue import LANGUAGES, gettext, speaking
from workbench.pages.catalogues import translated

OTHERS = LANGUAGES[1:]
"""The languages besides English."""
_WORD = re.compile(r"[A-Za-z']{2,}")
_LETTERS = re.compile(r"[A-Za-z]{2,}.*[A-Za-z]{2,}|[A-Za-z]{5,}")
"""What a piece must have to be told from a name or from a word of two languages."""


def english_in(text: str, language: str, *, words: int = 1) -> list[str]:
    """Return the pieces of the code's own sentences that stand in a text of another language.

    `words`: the fewest words of a piece.
    """
    # A pattern is only made for what is there: there are more pieces than `re` keeps patterns.
    there = (piece for piece in _pieces(language) if piece in text and len(_WORD.findall(piece)) >= words)
    return [piece for piece in there if re.search(rf"(?<!\w){re.escape(piece)}(?!\w)", text)]


def in_every_language(sentence: str) -> set[str]:
    """Return a sentence of the code as each language has it."""
    said = set()
    for language in LANGUAGES:
        with speaking(language):
            said.add(gettext(sentence))
    return said


@cache
def _pieces(language: str) -> tuple[str, ...]:
    """Return the fixed parts of the English sentences, without those that the language has too.

    They are those of the catalogue, which `test_catalogue.py` holds against the code: to read the code takes seconds.
    """
    messages = translated(language)
    said = " ".join(_texts(message.string) for message in messages)
    found = {piece for message in messages for text in _ids(message.id) for piece in _fixed(text)}
    return tuple(sorted(piece for piece in found if piece not in said))


def _fixed(text: str) -> list[str]:
    lines = (line for fixed, _, _, _ in Formatter().parse(text) for line in fixed.splitlines())
    pieces = [line.strip(" .,:;()“”\"'-") for line in lines]
    return [piece for piece in pieces if _LETTERS.search(piece)]


def _ids(ids: object) -> tuple[str, ...]:
    return (ids,) if isinstance(ids, str) else tuple(ids) if isinstance(ids, tuple) else ()


def _texts(strings: object) -> str:
    return " ".join(_ids(strings))
