"""The letters that others write, as far as anybody sees them: what a screen hides reaches no model."""

import re

from core.messaging.visible_text import is_seen

_DOUBTFUL = re.compile(r"[^\n -~]")
"""What may be a letter that nobody sees; all others are seen."""


def hides(text: str) -> bool:
    """Return whether a text holds what nobody sees, besides space."""
    return any(not match[0].isspace() and not is_seen(text, match.start()) for match in _DOUBTFUL.finditer(text))


def readable(text: str) -> str:
    """Return a text of several lines without what nobody sees: controls, marks of direction, tags, blank letters."""
    return _DOUBTFUL.sub(lambda match: match[0] if match[0] == "\t" or is_seen(text, match.start()) else "", text)


def clean(text: str) -> str:
    """Return a text on one line, without what nobody sees and without tags of ours."""
    spaced = "".join(" " if char.isspace() else char for char in text)
    return " ".join(readable(spaced).split()).replace("for_assistant>", "for_assistant›")
