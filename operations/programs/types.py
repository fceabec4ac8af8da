"""A tool for people's programs: its arguments and its result. Abilities declare theirs."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from core.json_types import JsonObject
from operations.programs.tokens import Client

MOST = 100
"""Rows that a list has."""


class Arguments(BaseModel):
    """The arguments of a tool: no more than it names."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class Nothing(Arguments):
    pass


@dataclass(frozen=True, slots=True)
class Told:
    """A tool's result: in words, and the same as JSON."""

    text: str
    data: JsonObject
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ClientTool:
    """A tool as programs see it."""

    name: str
    description: str
    takes: type[Arguments]
    run: Callable[[Client, Arguments], Awaitable[Told]]
    reads: bool = True

    @property
    def schema(self) -> JsonObject:
        schema: JsonObject = self.takes.model_json_schema()
        return schema


def listed(name: str, rows: Sequence[JsonObject], line: str) -> Told:
    """Return a list of things of a name; `line` is the field of each that has it in words, for those who read."""
    text = "\n".join(str(row[line]) for row in rows) or f"There are no {name}."
    return Told(text, {name: [{key: value for key, value in row.items() if key != line} for row in rows]})


def iso(at: datetime | None) -> str | None:
    """Return a moment as JSON has it."""
    return at.isoformat() if at else None
