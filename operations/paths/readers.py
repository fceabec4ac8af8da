"""What abilities tell of a turn's path, for `trace` and the console: declared by each, read in one loop."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.db.database import Connection
from onevalet.ability_registry import all_abilities

if TYPE_CHECKING:
    from operations.console.reading.paths import Span

type Line = dict[str, object]
"""A step of a path with `at` and `what`: ids and states, never text."""
type Reads[Told] = Callable[[Connection, str, str], Awaitable[Sequence[Told]]]
"""Reads what there is to tell of a turn, as its person, by the tenant and the turn."""


async def _nothing(_: Connection, __: str, ___: str) -> Sequence["Span"]:
    return ()


@dataclass(frozen=True, slots=True)
class PathReader:
    """What an ability tells: `lines` to `trace`, `spans` to the page of the turn."""

    lines: Reads[Line]
    spans: "Reads[Span]" = _nothing


def path_readers() -> Sequence[PathReader]:
    """Return what the abilities that are here tell."""
    return [ability.path() for ability in all_abilities() if ability.path is not None]
