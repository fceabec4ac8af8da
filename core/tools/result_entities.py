"""Find the subjects of a tool result: the things in it that have an id, so that a later turn can name them again."""

from collections.abc import Iterator
from dataclasses import dataclass

from core.json_types import Json, read_json

_NAMES = ("name", "title", "subject", "summary", "label", "text", "email")
_MAX_TEXT = 200_000
_MAX_LENGTH = 100
_MAX_DEPTH = 6
_MAX_FOUND = 10
"""Of a single result: a list of hundreds would push out all that was seen before."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing in a tool's result: its id there, and its name."""

    tool: str
    id: str
    name: str


def entities_in(tool: str, text: str) -> tuple[Entity, ...]:
    """List the things in a result: JSON objects with an `id` and a name, in order; nothing in other text."""
    start = text.lstrip()[:1]
    if start not in ("{", "[") or len(text) > _MAX_TEXT:
        return ()
    try:
        names = {thing["id"]: thing["name"] for thing in _things(read_json(text), 0)}
    except ValueError:
        return ()
    return tuple(Entity(tool, id_, name) for id_, name in list(names.items())[:_MAX_FOUND])


def _things(value: Json, depth: int) -> Iterator[dict[str, str]]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _things(item, depth + 1)
    elif isinstance(value, dict):
        name = next((value[key] for key in _NAMES if isinstance(value.get(key), str) and value[key]), None)
        if isinstance(value.get("id"), str | int) and isinstance(name, str):
            yield {"id": str(value["id"])[:_MAX_LENGTH], "name": " ".join(name.split())[:_MAX_LENGTH]}
        for item in value.values():
            if isinstance(item, list | dict):
                yield from _things(item, depth + 1)
