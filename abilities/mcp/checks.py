"""Checks of JSON values, and the phrases about errors in them for the model."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import TypeGuard

from core.json_types import Json, JsonObject

type Check = Callable[[Json, str], list[str]]
"""Returns the errors in a value at a place."""

MAX_PROBLEMS = 5
MAX_SHOWN = 80
"""Characters of a value that an error shows to the model."""


class Untranslatable(ValueError):
    """A schema that cannot be translated. The message ends a sentence that begins with the parameters."""


@dataclass(frozen=True, slots=True)
class Node:
    """A translated schema. `shown` is the model's view of it."""

    shown: JsonObject = field(default_factory=dict)
    checks: tuple[Check, ...] = ()

    def problems(self, value: Json, where: str = "") -> list[str]:
        """Return the errors in a value, as phrases that begin with the place; empty if there are none."""
        found: list[str] = []
        for check in self.checks:
            found += check(value, where)
            if len(found) >= MAX_PROBLEMS:
                break
        return found[:MAX_PROBLEMS]


def is_number(value: Json) -> TypeGuard[float]:
    """Return whether a value is a number of JSON."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def is_multiple(value: Json, of: float) -> bool:
    """Return whether a number is a multiple of another."""
    # As the numbers are written, for 0.3 is a multiple of 0.1.
    return Fraction(repr(value)) % Fraction(repr(of)) == 0


TYPES: Mapping[str, Callable[[Json], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())
    ),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def of_types(kinds: tuple[str, ...]) -> Check:
    """Return a check that a value has any of some types."""

    def check(value: Json, where: str) -> list[str]:
        if any(TYPES[kind](value) for kind in kinds):
            return []
        return [f"{where or 'they'}: {short(value)} is not of type {' or '.join(map(repr, kinds))}"]

    return check


def of_values(values: Sequence[Json], says: str) -> Check:
    """Return a check that a value is among some values; `says` precedes them in the complaint."""
    keys = {key_of(value) for value in values}
    listed = ", ".join(short(value) for value in values[:20])

    def check(value: Json, where: str) -> list[str]:
        return [] if key_of(value) in keys else [f"{where or 'they'}: {short(value)} {says} {listed}"]

    return check


def never(value: Json, where: str) -> list[str]:
    """Complain of any value."""
    return [f"{where or 'they'}: {short(value)} is not allowed"]


def first(problems: Iterable[str]) -> list[str]:
    """Return the first complaints, up to the limit; the others are not even made."""
    return list(islice(problems, MAX_PROBLEMS))


def inside(where: str, name: "str | int") -> str:
    """Return the place of a member within a place."""
    short = str(name)[:MAX_SHOWN]
    return f"{where}.{short}" if where else short


def short(value: Json) -> str:
    """Return a value as a complaint names it; large values are shortened, since complaints nest."""
    match value:
        case list():
            return "a list"
        case dict():
            return "an object"
        case str() if len(value) > MAX_SHOWN:
            return f"{value[:MAX_SHOWN]!r}…"
    return repr(value)[:MAX_SHOWN]


def key_of(value: Json) -> Hashable:
    """Return a key that is equal for values that are equal as JSON: 1 and 1.0 are, 1 and true are not."""
    match value:
        case bool():
            return ("a truth", value)
        case list():
            return ("a list", tuple(key_of(item) for item in value))
        case dict():
            return ("an object", frozenset((name, key_of(item)) for name, item in value.items()))
    return value
