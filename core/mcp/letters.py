"""The letters that others write, as far as anybody sees them: what a screen hides reaches no model."""

import re

from core.messaging.visible_text import is_seen

_DOUBTFUL = re.compile(r"[^\n -~]")
"""What may be a letter that nobody sees; all others are seen."""
_MARKS = frozenset("\u030a\u0333\u033f")
"""Marks that only a channel drops, as in a decomposed Å."""
_LINES = frozenset("\r\v\f\x85\u2028\u2029")


def hides(text: str) -> bool:
    """Return whether a text holds what nobody sees, besides space."""
    return any(not match[0].isspace() and not _seen(text, match.start()) for match in _DOUBTFUL.finditer(text))


def readable(text: str) -> str:
    """Return a text of several lines without what nobody sees: controls, marks of direction, tags, blank letters."""

    def kept(match: re.Match[str]) -> str:
        char = match[0]
        if char.isspace():
            return char if char == "\t" else "\n" if char in _LINES else " "
        return char if _seen(text, match.start()) else ""

    text = text.replace("\r\n", "\n")
    return _DOUBTFUL.sub(kept, text)


def clean(text: str) -> str:
    """Return a text on one line, without what nobody sees and without tags of ours."""
    return " ".join(readable(text).split()).replace("for_assistant>", "for_assistant›")


def _seen(text: str, at: int) -> bool:
    return text[at] in _MARKS or is_seen(text, at)
