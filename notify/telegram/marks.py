"""A text with marks on it, in code points: what becomes Telegram's entities; pure."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark the characters from `start` to before `end`; `url` and `language` belong to some kinds only."""

    kind: str
    start: int
    end: int
    url: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Rich:
    """A plain text and its marks, in code points."""

    text: str
    marks: tuple[Mark, ...] = ()


def cut(rich: Rich, start: int, end: int) -> Rich:
    """Give a stretch of a text with its marks: what is cut through is closed and opened again."""
    return Rich(rich.text[start:end], tuple(shifted(_clipped(rich.marks, start, end), -start)))


def by_line(rich: Rich) -> list[Rich]:
    """Take a text apart at its line ends."""
    lines = rich.text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines[:-1])]
    marks: list[list[Mark]] = [[] for _ in lines]
    for mark in rich.marks:
        number = bisect_right(starts, mark.start) - 1
        while number < len(starts) and starts[number] < mark.end:
            marks[number].append(mark)
            number += 1
    return [
        Rich(line, tuple(shifted(_clipped(found, start, start + len(line)), -start)))
        for line, start, found in zip(lines, starts, marks, strict=True)
    ]


def shifted(marks: Sequence[Mark], by: int) -> list[Mark]:
    """Move marks along the text."""
    return [Mark(mark.kind, mark.start + by, mark.end + by, mark.url, mark.language) for mark in marks]


def _clipped(marks: Sequence[Mark], start: int, end: int) -> list[Mark]:
    """Give the marks within a stretch of the text, cut to it."""
    return [
        Mark(mark.kind, max(mark.start, start), min(mark.end, end), mark.url, mark.language)
        for mark in marks
        if max(mark.start, start) < min(mark.end, end)
    ]
