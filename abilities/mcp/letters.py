"""The visible text of MCP servers: characters that a screen hides reach no model."""

from core.language.unseen import without_unseen


def hides(text: str) -> bool:
    """Return whether a text contains invisible characters, besides the ends of lines."""
    lines = _with_line_ends(text)
    return without_unseen(lines) != lines


def readable(text: str) -> str:
    """Return a text of several lines without invisible characters: controls, direction marks, tags, blank letters."""
    return without_unseen(_with_line_ends(text))


def clean(text: str) -> str:
    """Return a text on a single line, without invisible characters and without tags of ours."""
    return " ".join(readable(text).split()).replace("for_assistant>", "for_assistant›")


def _with_line_ends(text: str) -> str:
    for end in ("\r\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029"):
        text = text.replace(end, "\n")
    return text
