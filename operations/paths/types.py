"""The parts of a turn's path that abilities declare, for `trace` and the console."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from core.db.database import Connection

type Line = dict[str, object]
"""A step of a path with `at` and `what`: ids and states, never text."""


@dataclass(frozen=True, slots=True)
class PathStep:
    """A step of a path: a line of `trace` if `what` is set, and a row of the turn's page if it has a title.

    `told`: the rest of the line, ids and states without text. `facts` are further details of the row by their names,
    `began` its first moment if that was before `at`.
    """

    at: datetime
    what: str = ""
    told: Mapping[str, object] = field(default_factory=dict)
    title: str = ""
    note: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    began: datetime | None = None

    @property
    def line(self) -> Line:
        """Return the line of `trace`."""
        return {"at": self.at, "what": self.what, **self.told}


type ReadPath = Callable[[Connection, str, str], Awaitable[Sequence[PathStep]]]
"""Reads an ability's part of a turn's path, as the turn's person, by tenant and turn."""
_of_abilities: list[ReadPath] = []


def use_path_readers(readers: Iterable[ReadPath]) -> None:
    """Use these readers, which abilities declare, instead of earlier readers."""
    _of_abilities[:] = readers


async def steps_of_abilities(connection: Connection, tenant_id: str, turn_id: str) -> list[PathStep]:
    """Return the abilities' steps of a turn's path."""
    return [step for read in _of_abilities for step in await read(connection, tenant_id, turn_id)]
