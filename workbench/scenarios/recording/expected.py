"""What is expected of a message at a replay: its text without what is another each time."""

import re

_FLEETING = re.compile(
    r"https?://\S+"  # a link has a token of its own
    r"|\b\d[A-Z][0-9A-Z]?\b"  # a card's code
    r"|\b[2-9A-Z]{4}-[2-9A-Z]{4}\b"  # a stranger's
    r"|\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\.?)?"  # a moment: a replay is not to the minute
)
_BRACKETS = re.compile(r"[(（][^()（）\n]*[)）]")
_APART = " 0:00 "
"""Any moment: what is on both sides of one are two pieces."""
_LEAST = 2
_AROUND = " \t\n:;,.()[]"
"""What around a piece says nothing by itself."""


def pieces_of(text: str) -> str | list[str]:
    """Return the text, or what of it is the same each time as a list; an empty list where nothing is."""
    pieces = [piece.strip(_AROUND) for piece in _FLEETING.split(text)]
    kept = [piece for piece in pieces if len(piece) >= _LEAST]
    return kept[0] if len(kept) == 1 else kept


def pieces_of_home(text: str) -> str | list[str]:
    """Return the same of Slack's Home tab, whose lines say in brackets how long ago something was asked."""
    return pieces_of(_BRACKETS.sub(_APART, text))


def coded(text: str, code: str, place: str) -> str:
    """Return a text with a place in it for the code of the newest card, in capital letters or small ones."""
    return re.sub(rf"\b{re.escape(code)}\b", place, text, flags=re.IGNORECASE) if code else text
