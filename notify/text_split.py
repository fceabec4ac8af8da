"""The places to cut a text: between graphemes, best after a paragraph, a line, a sentence or a word; pure.

Each function looks at no more of the text than a piece may hold, so that cutting all of it takes steps in proportion to
its length.
"""

from collections.abc import Callable, Iterator

import regex

type Weigh = Callable[[str], int]
"""The weight of a stretch of text towards a limit; at least `least` for each code point."""

_GRAPHEME = regex.compile(r"\X")
# Best first: after a paragraph, a line, a sentence, a word.
_BORDERS = (
    regex.compile(r"\n\n+"),
    regex.compile(r"\n"),
    regex.compile(r"[.!?…。！？][\"'”’)\]]*\s+"),
    regex.compile(r"\s+"),
)


def pieces_of(text: str, limit: int, weigh: Weigh) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each piece of at most `limit`; only white space at a cut is left out."""
    start = 0
    while weigh(text[start : start + limit + 1]) > limit:
        cut = next_cut(text, start, limit, weigh)
        yield start, start + len(text[start:cut].rstrip(" \n"))
        start = cut
        while text[start : start + 1] == "\n":
            start += 1
    if start < len(text):
        yield start, len(text)


def shorten(text: str, limit: int, weigh: Weigh) -> str:
    """Return a line of at most `limit`, cut between graphemes and with an ellipsis if it is longer."""
    if weigh(text) <= limit:
        return text
    ends = _grapheme_ends(text[: limit + 1], limit - weigh("…"), weigh)
    return text[: ends[-1] if ends else 0].rstrip() + "…"


def next_cut(text: str, start: int, room: int, weigh: Weigh, least: int = 1) -> int:
    """Return the end of the piece that starts here: at a good border within the room.

    No grapheme is cut unless it alone is over the room; then at least one code point is taken.
    """
    # A stretch of its own: a pattern for graphemes may look back as far as there is text.
    reach = text[start : start + room // least + 1]
    ends = _grapheme_ends(reach, room, weigh)
    if not ends:
        return start + max(_code_point_cut(reach, room, weigh), 1)
    return start + (ends[-1] if start + ends[-1] == len(text) else _border(reach, ends))


def _grapheme_ends(reach: str, room: int, weigh: Weigh) -> list[int]:
    """Return every index at which a grapheme ends within the room."""
    ends, used = list[int](), 0
    for grapheme in _GRAPHEME.finditer(reach):
        used += weigh(grapheme.group())
        if used > room:
            break
        ends.append(grapheme.end())
    return ends


def _border(reach: str, ends: list[int]) -> int:
    """Return the last border of the best kind that does not leave the piece half empty."""
    allowed = frozenset(ends)
    for pattern in _BORDERS:
        cuts = [border.end() for border in pattern.finditer(reach, 0, ends[-1]) if border.end() in allowed]
        if cuts and cuts[-1] >= ends[-1] // 2:
            return int(cuts[-1])
    return ends[-1]


def _code_point_cut(reach: str, room: int, weigh: Weigh) -> int:
    cut, used = 0, 0
    while cut < len(reach) and used + weigh(reach[cut]) <= room:
        used += weigh(reach[cut])
        cut += 1
    return cut
