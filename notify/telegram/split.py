"""Cut a text into pieces of at most so many UTF-16 units, at natural borders; pure."""

from notify.telegram.visible import is_visible
from notify.text_split import next_cut
from providers.utf16 import units


def split(text: str, limit: int) -> list[tuple[int, int]]:
    """Return where each piece starts and ends, in code points.

    Only white space and what nobody sees is left out, and no grapheme is cut unless it alone is over the limit.
    """
    pieces = []
    start = 0
    while start < len(text):
        end, following = _next_cut(text, start, limit)
        last = start + len(text[start:end].rstrip(" \n"))
        if is_visible(text[start:last]):
            pieces.append((start, last))
        start = following
    return pieces


def _next_cut(text: str, start: int, limit: int) -> tuple[int, int]:
    """Return where the piece that starts here ends, and where the next one starts."""
    if units(text[start : start + limit + 1]) <= limit and start + limit + 1 > len(text):
        return len(text), len(text)
    cut = next_cut(text, start, limit, units)
    following = cut
    while following < len(text) and text[following] == "\n":
        following += 1
    return cut, following
