"""Narrow JSON to the shapes that the rules read."""

import json

from workbench.simulator.journal import Json

type Obj = dict[str, Json]


def obj(value: Json) -> Obj:
    """Return an object, or an empty object for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: Json) -> list[Json]:
    """Return a list, or an empty list for anything else."""
    return value if isinstance(value, list) else []


def text(value: Json) -> str:
    """Return a string, or an empty string for anything else."""
    return value if isinstance(value, str) else ""


def decoded(value: Json) -> Json:
    """Decode a field that forms carry as JSON text; raise ValueError when it isn't JSON."""
    return json.loads(value) if isinstance(value, str) else value


def copy(value: Json) -> Json:
    fresh: Json = json.loads(json.dumps(value))
    return fresh
