"""What abilities tell of a turn's path, for `trace` and the console."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from core.db.database import Connection

type Line = dict[str, object]
"""A step of a path with `at` and `what`: ids and states, never text."""
type Reads[Told] = Callable[[Connection, str, str], Awaitable[Sequence[Told]]]
"""Reads what there is to tell of a turn, as its person, by the tenant and the turn."""


@dataclass(frozen=True, slots=True)
class PathNote:
    """A row of the page of a turn. `facts` say more, each by its name."""

    at: datetime
    until: datetime
    title: str
    note: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)


async def no_notes(_: Connection, __: str, ___: str) -> Sequence[PathNote]:
    """Tell nothing to the page."""
    return ()


@dataclass(frozen=True, slots=True)
class PathReader:
    """What an ability tells: `lines` to `trace`, `notes` to the page of the turn."""

    lines: Reads[Line]
    notes: Reads[PathNote] = no_notes


_of_abilities: list[Callable[[], PathReader]] = []


def use_path_readers(loads: Iterable[Callable[[], PathReader]]) -> None:
    """Read what these tell, which abilities declare, instead of those given before."""
    _of_abilities[:] = loads


def path_readers() -> Sequence[PathReader]:
    """Return what abilities tell."""
    return [load() for load in _of_abilities]
