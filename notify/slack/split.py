"""Cut Markdown into pieces at natural borders, code fences closed and opened again; pure.

Slack does not define its characters, so UTF-16 units are counted, the larger number; `<` is written with four of them,
and `&` with five (`notify.slack.markdown`). The text must also fit in plain form, of which Slack takes 40,000: weights
count both.
"""

from bisect import bisect_right
from dataclasses import dataclass

import regex
from markdown_it import MarkdownIt

from notify.text_split import next_cut
from providers.utf16 import units

MAX_TEXT = 12_000
"""Markdown in a message (docs.slack.dev, reference/block-kit/blocks/markdown-block)."""

_SCALE = 10
_MAX_NESTING = 24
"""Levels of lists and quotes, two a list: nested blocks are parsed as often as they are deep."""
_MAX_FENCE = 100
_DEEPEST = 3  # blanks before a fence; with more it is code itself (CommonMark)
_OPENING = regex.compile(r"(?P<before>.*?)(?P<marks>`{3,}|~{3,})(?P<info>.*)")
_CLOSING = regex.compile(r"[\s>]*(`{3,}|~{3,})\s*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece: `body` is part of the text; the other two are added to keep a fence whole."""

    body: str
    opened: str = ""
    closed: str = ""

    @property
    def text(self) -> str:
        return self.opened + self.body + self.closed


@dataclass(frozen=True, slots=True)
class Fence:
    """A code fence by its offsets: `start`, the code from `inside` to `close`, and its `end`.

    `closing` ends it in place; `opening` and `reclosing` enclose a rest of it in a message of its own, without the list
    that indented it. `deep`: indented so far that its own last line would not end it there.
    """

    start: int
    inside: int
    close: int
    end: int
    opening: str
    closing: str
    reclosing: str
    deep: bool


@dataclass(frozen=True, slots=True)
class TextBlock:
    """The place of a paragraph or a heading: code between backticks ends in the block in which it begins."""

    start: int
    end: int


def weigh(text: str) -> int:
    """Return a text's weight; the limit is ten times MAX_TEXT."""
    size = units(text)
    ampersands, left, right = (text.count(mark) for mark in "&<>")
    escaped = size + 4 * ampersands + 3 * (left + right)
    # `&` and `>` are written longer only in some places; letters are weighed one by one, so the longer form counts.
    marked = size + 4 * ampersands + 3 * left + 2 * right
    return max(_SCALE * marked, 3 * escaped)


def split(text: str, limit: int = MAX_TEXT) -> list[Piece]:
    """Return a text in pieces of at most `limit` units; always at least one piece, none of them blank.

    Only white space at a cut outside of code is left out, and no grapheme is cut unless it alone is over the limit.
    """
    room, fences = limit * _SCALE, _Fences(find_fences(text))
    pieces: list[Piece] = []
    start = 0
    while start < len(text):
        began = fences.around(start)
        opened = f"{began.opening}\n" if began else ""
        closing = f"\n{began.reclosing}" if began and began.deep else ""
        end = began.close if began and began.deep else len(text)
        if weigh(opened + closing) + weigh(text[start : min(end, start + limit + 1)]) <= room:
            pieces.append(Piece(text[start:end], opened, closing))
            start = began.end if began and began.deep else end
        else:
            cut = _cut(text, start, room - weigh(opened), fences)
            pieces.append(_piece(text[start:cut], opened, began, fences.around(cut)))
            start = cut
        while text[start : start + 1] == "\n" and fences.around(start) is None:
            start += 1
    return [piece for piece in pieces if piece.body.strip()] or [Piece(text)]


def find_fences(text: str) -> list[Fence]:
    """Return the code fences of a Markdown text, in order."""
    return [block for block in find_blocks(text) if isinstance(block, Fence)]


def find_blocks(text: str) -> list[Fence | TextBlock]:
    """Return the code fences, paragraphs and headings of a Markdown text, in order."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MAX_NESTING}).disable(["reference", "inline"])
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    blocks: list[Fence | TextBlock] = []
    for token in parser.parse(text):
        if token.type not in ("fence", "inline") or token.map is None:
            continue
        first, behind = token.map
        if token.type == "inline":
            blocks.append(TextBlock(offsets[first], min(offsets[behind], len(text))))
            continue
        fence = _fence(text, offsets[first], offsets[first + 1], offsets[max(behind - 1, first + 1)], offsets[behind])
        if fence is not None:
            blocks.append(fence)
    return blocks


def _fence(text: str, start: int, inside: int, last: int, behind: int) -> Fence | None:
    matched = _OPENING.match(text[start : inside - 1])
    if matched is None or len(matched[0]) > _MAX_FENCE:
        return None
    marks, before = matched["marks"], matched["before"]
    quotes = "> " * before.count(">")
    return Fence(
        start=start,
        inside=inside,
        close=last if _ends(text[last:behind], marks) else min(behind, len(text)),
        end=min(behind, len(text)),
        opening=f"{quotes}{marks}{matched['info'].rstrip()}",
        closing="".join(mark if mark == ">" else " " for mark in before) + marks,
        reclosing=f"{quotes}{marks}",
        deep=len(before.rpartition(">")[2]) > _DEEPEST,
    )


def _ends(line: str, marks: str) -> bool:
    return _CLOSING.fullmatch(line) is not None and marks in line


def _piece(body: str, opened: str, began: Fence | None, torn: Fence | None) -> Piece:
    if torn is None:
        return Piece(body.rstrip(" \n"), opened)
    closing = torn.reclosing if torn is began else torn.closing
    return Piece(body, opened, ("" if body.endswith("\n") else "\n") + closing)


class _Fences:
    """A text's fences, found by position."""

    def __init__(self, fences: list[Fence]) -> None:
        self._fences = fences
        self._starts = [fence.start for fence in fences]
        self.closing = max((weigh(fence.closing) + _SCALE for fence in fences), default=0)
        """The weight of the longest closing line of any fence."""

    def before(self, at: int) -> Fence | None:
        """Return the last fence that begins before this place or at it."""
        number = bisect_right(self._starts, at)
        return self._fences[number - 1] if number else None

    def around(self, at: int) -> Fence | None:
        """Return the fence whose code a cut at this place would tear."""
        fence = self.before(at)
        return fence if fence is not None and fence.inside <= at < fence.close else None


def _cut(text: str, start: int, room: int, fences: _Fences) -> int:
    cut = next_cut(text, start, room - fences.closing, weigh, _SCALE)
    fence = fences.before(cut)
    if fence is None:
        return cut
    if start < fence.start < cut <= fence.inside:
        return fence.start  # an opening line alone says nothing
    if fence.close == cut and weigh(text[start : fence.end]) <= room:
        return fence.end  # nor does a closing line
    return cut
