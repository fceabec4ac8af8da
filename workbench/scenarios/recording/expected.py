"""The expected parts of a message at a replay: its text without the changing parts."""

import re

_FLEETING = re.compile(
    r"https?://\S+"  # a link has a token of its own
    r"|\b\d[A-Z][0-9A-Z]?\b"  # a card's code
    r"|\b[2-9A-Z]{4}-[2-9A-Z]{4}\b"  # a stranger's
    r"|\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\.?)?"  # a moment: a replay is not to the minute
)
_BRACKETS = re.compile(r"[(（][^()（）\n]*[)）]")
_APART = " 0:00 "
"""Stands for any moment: the texts before and after it are two pieces."""
_LEAST = 2
_AROUND = " \t\n:;,.()[]"
"""Characters around a piece that carry no meaning."""


def pieces_of(text: str) -> str | list[str]:
    """Return the text, or a list of its constant parts; an empty list if it has none."""
    pieces = [piece.strip(_AROUND) for piece in _FLEETING.split(text)]
    kept = [piece for piece in pieces if len(piece) >= _LEAST]
    return kept[0] if len(kept) == 1 else kept


def pieces_of_home(text: str) -> str | list[str]:
    """Return the same of Slack's Home tab, whose lines say in brackets how long ago something was asked."""
    return pieces_of(_BRACKETS.sub(_APART, text))


def coded(text: str, code: str, place: str) -> str:
    """Return a text with a placeholder for the code of the newest card, in capital or small letters."""
    return re.sub(rf"\b{re.escape(code)}\b", place, text, flags=re.IGNORECASE) if code else text
