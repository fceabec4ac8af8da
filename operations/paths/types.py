"""The parts of a turn's path that abilities declare, for `trace` and the console."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from core.db.database import Connection

type Line = dict[str, object]
"""A step of a path with `at` and `what`: ids and states, never text."""
type Reads[Told] = Callable[[Connection, str, str], Awaitable[Sequence[Told]]]
"""Reads an ability's part of a turn's path, as the turn's person, by tenant and turn."""


@dataclass(frozen=True, slots=True)
class PathNote:
    """A row of a turn's page. `facts` are further details by their names."""

    at: datetime
    until: datetime
    title: str
    note: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)


async def no_notes(_: Connection, __: str, ___: str) -> Sequence[PathNote]:
    """Add no row to the page."""
    return ()


@dataclass(frozen=True, slots=True)
class PathReader:
    """An ability's part of a turn's path: `lines` for `trace`, `notes` for the page of the turn."""

    lines: Reads[Line]
    notes: Reads[PathNote] = no_notes


_of_abilities: list[Callable[[], PathReader]] = []


def use_path_readers(loads: Iterable[Callable[[], PathReader]]) -> None:
    """Use these readers, which abilities declare, instead of earlier readers."""
    _of_abilities[:] = loads


def path_readers() -> Sequence[PathReader]:
    """Return the abilities' readers."""
    return [load() for load in _of_abilities]
