"""Cut a text into pieces of at most so many UTF-16 units, at natural borders; pure."""

from collections.abc import Iterator

import regex

from notify.telegram.visible import is_visible, units

_GRAPHEME = regex.compile(r"\X")
# Best first: after a paragraph, a line, a sentence, a word.
_BORDERS = (
    regex.compile(r"\n\n+"),
    regex.compile(r"\n"),
    regex.compile(r"[.!?…。！？][\"'”’)\]]*\s+"),
    regex.compile(r"\s+"),
)


def split(text: str, limit: int) -> list[tuple[int, int]]:
    """Give where each piece starts and ends, in code points.

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
    """Give where the piece that starts here ends, and where the next one starts."""
    if units(text[start : start + limit + 1]) <= limit and start + limit + 1 > len(text):
        return len(text), len(text)
    ends = list(_grapheme_ends(text, start, limit))
    if not ends or ends[-1] == len(text):
        cut = len(text) if ends else _code_point_cut(text, start, limit)
    else:
        cut = _border(text, start, ends)
    following = cut
    while following < len(text) and text[following] == "\n":
        following += 1
    return cut, following


def _grapheme_ends(text: str, start: int, limit: int) -> Iterator[int]:
    """Give every index where a grapheme ends within the limit."""
    used = 0
    for found in _GRAPHEME.finditer(text, start):
        used += units(found.group())
        if used > limit:
            return
        yield found.end()


def _border(text: str, start: int, ends: list[int]) -> int:
    """Choose the last border of the best kind that does not leave the piece half empty."""
    allowed = frozenset(ends)
    for pattern in _BORDERS:
        cuts = [found.end() for found in pattern.finditer(text, start, ends[-1]) if found.end() in allowed]
        if cuts and cuts[-1] - start >= (ends[-1] - start) // 2:
            return int(cuts[-1])
    return ends[-1]


def _code_point_cut(text: str, start: int, limit: int) -> int:
    cut, used = start, 0
    while cut < len(text) and used + units(text[cut]) <= limit:
        used += units(text[cut])
        cut += 1
    return cut
