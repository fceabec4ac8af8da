"""Points whose ends are said in words: what a person wants, where a process dies of it, and what is there in the end.

What a person wants is a kind, an enumeration of each run's own, whose value ends their text. What is there in the end
is one line of words, compared with the one that stands at the point.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Struck(StrEnum):
    """The process that dies."""

    WEB = "web"
    WORKER = "worker"
    SERVER = "server"
    """The MCP server that a program started."""


@dataclass(frozen=True, slots=True)
class WordedPoint[K: StrEnum]:
    """Where a process dies (or loses an answer), and what is there in the end."""

    kind: K
    name: str
    expected: str
    why: str
    struck: Struck = Struck.WORKER


@dataclass(frozen=True, slots=True)
class WordedMutation[K: StrEnum]:
    """A write that is removed, at a point whose expectation must then be missed."""

    drop: str
    point: WordedPoint[K]


def ends[K: StrEnum](
    kind: K, expected: str, why: str, *names: str, struck: Struck = Struck.WORKER
) -> tuple[WordedPoint[K], ...]:
    """Return the points that end alike, for the same reason."""
    return tuple(WordedPoint(kind, name, expected, why, struck) for name in names)


def around(statement: str) -> tuple[str, ...]:
    """Return the names of the points at a statement."""
    return f"{statement} before", f"{statement} after", f"{statement} unknown"


def by_name[K: StrEnum](points: Sequence[WordedPoint[K]]) -> dict[tuple[K, str], WordedPoint[K]]:
    """Return the points by what is wanted and where they are."""
    return {(point.kind, point.name): point for point in points}


def some_of[K: StrEnum](
    points: Mapping[tuple[K, str], WordedPoint[K]], names: Mapping[K, Sequence[str]]
) -> tuple[WordedPoint[K], ...]:
    """Return the points that are named."""
    return tuple(points[kind, name] for kind, of_kind in names.items() for name in of_kind)
