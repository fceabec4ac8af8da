"""Parameters as the model is shown them: without the words of a schema that only a program needs."""

from collections import Counter
from collections.abc import Iterator

from core.json_types import Json, JsonObject

_NAMED = ("properties", "$defs")
"""The keys of schemas by names of their own, which may be any word."""


def shown_form(schema: JsonObject) -> JsonObject:
    """Return a schema without empty defaults, null as an alternative, and whether others than its names may come.

    An argument that is left out has its default; an unknown argument is left out or refused when a call comes in. A
    definition with a single reference replaces it.
    """
    shown = _shown(_in_place(schema))
    assert isinstance(shown, dict)  # noqa: S101 - an object always yields an object
    return shown


def _in_place(schema: JsonObject) -> JsonObject:
    """Return a schema in which each definition with a single reference, and none of its own, is put in its place."""
    definitions = schema.get("$defs")
    if not isinstance(definitions, dict):
        return schema
    used = Counter(_references(schema))
    plain = {f"#/$defs/{name}": held for name, held in definitions.items() if not any(_references(held))}
    once = {reference: held for reference, held in plain.items() if used[reference] == 1}
    left = {name: held for name, held in definitions.items() if f"#/$defs/{name}" not in once}
    rest = {key: _replaced(value, once) for key, value in schema.items() if key != "$defs"}
    return rest | ({"$defs": _replaced(left, once)} if left else {})


def _references(node: Json) -> Iterator[str]:
    for held in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _references(held)
    if isinstance(node, dict) and isinstance(reference := node.get("$ref"), str):
        yield reference


def _replaced(node: Json, once: JsonObject) -> Json:
    if isinstance(node, list):
        return [_replaced(item, once) for item in node]
    if not isinstance(node, dict):
        return node
    if isinstance(reference := node.get("$ref"), str) and isinstance(held := once.get(reference), dict):
        return held | {key: value for key, value in node.items() if key != "$ref"}
    return {key: _replaced(value, once) for key, value in node.items()}


def _shown(node: Json) -> Json:
    if isinstance(node, list):
        return [_shown(item) for item in node]
    if not isinstance(node, dict):
        return node
    required = node.get("required")
    must = required if isinstance(required, list) else []
    kept: JsonObject = {}
    for key, value in node.items():
        if key in _NAMED and isinstance(value, dict):
            kept[key] = {name: _shown(item if name in must else _not_null(item)) for name, item in value.items()}
        elif not _says_nothing(key, value):
            kept[key] = _shown(value)
    return kept


def _not_null(node: Json) -> Json:
    """Return the only type of a value besides null: null need not be named."""
    if isinstance(node, dict):
        match node.get("anyOf"):
            case [dict(only), {"type": "null"}] | [{"type": "null"}, dict(only)]:
                return {**only, **{key: value for key, value in node.items() if key != "anyOf"}}
    return node


def _says_nothing(key: str, value: Json) -> bool:
    if key == "additionalProperties":
        return isinstance(value, bool)
    return key == "default" and (value is None or value is False or value in ("", [], {}))
