"""A text with marks, in code points, from which Telegram's entities are made; pure."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark on the characters from `start` to before `end`; only some kinds have `url` or `language`."""

    kind: str
    start: int
    end: int
    url: str = ""
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Rich:
    """A plain text and its marks, in code points."""

    text: str
    marks: tuple[Mark, ...] = ()


def cut(rich: Rich, spans: Sequence[tuple[int, int]]) -> list[Rich]:
    """Return stretches of a text, given in order, with their marks: a mark that is cut is closed and reopened."""
    starts = [start for start, _ in spans]
    marks: list[list[Mark]] = [[] for _ in spans]
    for mark in rich.marks:
        number = max(bisect_right(starts, mark.start) - 1, 0)
        while number < len(starts) and starts[number] < mark.end:
            marks[number].append(mark)
            number += 1
    return [
        Rich(rich.text[start:end], tuple(shifted(_clipped(inside, start, end), -start)))
        for (start, end), inside in zip(spans, marks, strict=True)
    ]


def by_line(rich: Rich) -> list[Rich]:
    lines = rich.text.split("\n")
    starts = accumulate((len(line) + 1 for line in lines[:-1]), initial=0)
    return cut(rich, [(start, start + len(line)) for line, start in zip(lines, starts, strict=True)])


def shifted(marks: Sequence[Mark], by: int) -> list[Mark]:
    return [Mark(mark.kind, mark.start + by, mark.end + by, mark.url, mark.language) for mark in marks]


def _clipped(marks: Sequence[Mark], start: int, end: int) -> list[Mark]:
    """Return the marks within a stretch of the text, cut to it."""
    return [
        Mark(mark.kind, max(mark.start, start), min(mark.end, end), mark.url, mark.language)
        for mark in marks
        if max(mark.start, start) < min(mark.end, end)
    ]
