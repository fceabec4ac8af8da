"""Telegram's published description of its types, and values that have what it describes."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.channels.telegram.builders import Json

PLAIN: Json = {"Integer": 1, "String": "words", "Boolean": True, "True": True, "Float": 1.5, "RichText": "words"}
_DEEPEST = 2

type Path_ = tuple[str | int, ...]


def described() -> Json:
    """Return the types of Telegram's published description."""
    folder = os.environ.get("ONEVALET_SPECS")
    if not folder:
        pytest.skip("ONEVALET_SPECS is not set: the providers' descriptions are elsewhere")
    types: Json = json.loads((Path(folder) / "telegram-bot-api.json").read_text())["types"]
    return types


def forms(types: Json, name: str) -> list[Any]:
    """Return a whole value of each type that a name stands for."""
    if name in types and types[name].get("subtypes"):
        return [_whole(types, kind, 0) for kind in types[name]["subtypes"]]
    return [_whole(types, name, 0)]


def _whole(types: Json, name: str, depth: int) -> Any:
    """Return a value with all of its fields, and deep down with the required ones."""
    if name in PLAIN:
        return PLAIN[name]
    if name.startswith("Array of "):
        return [_whole(types, name.removeprefix("Array of "), depth)]
    described = types[name]
    if described.get("subtypes"):
        return _whole(types, described["subtypes"][0], depth)
    return {
        field["name"]: _whole(types, field["types"][0], depth + 1)
        for field in described.get("fields", ())
        if field["required"] or depth < _DEEPEST
    }


def optional_paths(types: Json, name: str, value: Any, at: Path_ = ()) -> Iterator[Path_]:
    """Yield where a value of a type has a field that may be absent, at any depth."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from optional_paths(types, name.removeprefix("Array of "), item, (*at, number))
    elif isinstance(value, dict):
        kinds = [kind for kind in types[name].get("subtypes", [name]) if kind in types]
        for field in (field for kind in kinds for field in types[kind].get("fields", ())):
            if field["name"] in value:
                here = (*at, field["name"])
                if not field["required"]:
                    yield here
                yield from optional_paths(types, field["types"][0], value[field["name"]], here)


def without(value: Any, path: Path_, *, null: bool) -> Any:
    """Return a value in which one field is absent, or null."""
    step, *rest = path
    if isinstance(value, list):
        return [without(item, tuple(rest), null=null) if at == step else item for at, item in enumerate(value)]
    if rest:
        return {name: without(item, tuple(rest), null=null) if name == step else item for name, item in value.items()}
    return {name: None if name == step else item for name, item in value.items() if null or name != step}
