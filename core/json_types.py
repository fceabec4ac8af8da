"""JSON as a type, so that no untyped bag crosses a folder's border."""

import hashlib
import inspect
import json
import math
import re
from datetime import datetime
from typing import Any

MAX_DEPTH = 100
"""How deep JSON from elsewhere may nest: the places that walk over it call themselves."""

type Json = None | bool | int | float | str | list[Json] | dict[str, Json]
type JsonObject = dict[str, Json]

# Postgres refuses NUL in text and jsonb, and UTF-8 has no lone surrogates, though JSON can write both.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_PLAIN = frozenset({int, float, bool, type(None), datetime})
"""The commonest types of a statement's values, which cannot hold either character."""

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number too large")
    return number


# `json.loads` makes a decoder for each call that has options, which costs more than decoding a model's answer.
_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)


def storable[Value](value: Value) -> Value:
    """Return the same JSON value without the characters that no database takes; all others stay."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is str:
        return value if _UNSTORABLE.search(str(value)) is None else _without(str(value))  # type: ignore[return-value]
    match value:
        case str():
            return _without(value)  # type: ignore[return-value]
        case dict():
            return {storable(k): storable(v) for k, v in value.items()}  # type: ignore[return-value]
        case list():
            return [storable(v) for v in value]  # type: ignore[return-value]
        case tuple():
            return tuple([storable(v) for v in value])  # type: ignore[return-value]
    return value


def _without(text: str) -> str:
    return _UNSTORABLE.sub(lambda m: "" if m[0] == "\x00" else "\ufffd", text)


def read_json(text: str | bytes) -> Json:
    """Read JSON that a model, a person or a server wrote.

    Raises `ValueError` for a text that is no JSON (`NaN` and `Infinity` are not), for a number that is too large, and
    for values that nest deeper than `MAX_DEPTH`.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text), "surrogatepass")
        read: Json = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    check_depth(read)
    return read


def object_in(answer: str) -> JsonObject:
    """Return the JSON object in a model's answer, with any text around it; empty if it holds none."""
    try:
        value = read_json(answer[answer.index("{") : answer.rindex("}") + 1])
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def object_of(value: object) -> JsonObject:
    """Return a value that is an object; empty for any other."""
    return value if isinstance(value, dict) else {}


def objects_in(value: object) -> list[JsonObject]:
    """Return the objects of a list; empty for a value that is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def moment_in(value: object) -> datetime | None:
    """Return the moment that a text of JSON is; None for a value that is no text."""
    return datetime.fromisoformat(value) if isinstance(value, str) else None


def is_empty(value: Json) -> bool:
    """Return whether a value says nothing: null, or a text, a list or an object without content."""
    return value is None or value in ("", [], {})


def fields_in(row: dict[str, Any], kind: type) -> dict[str, Any]:
    """Return the values for the fields of a dataclass: SQL functions of a newer release may tell more."""
    return {name: row[name] for name in inspect.get_annotations(kind) if name in row}


def check_depth(value: Json) -> None:
    """Raise `ValueError` for a value that nests deeper than `MAX_DEPTH`."""
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH):
        inside: list[Json] = []
        for item in level:
            if isinstance(item, dict):
                inside += item.values()
            elif isinstance(item, list):
                inside += item
        level = [item for item in inside if isinstance(item, dict | list)]
        if not level:
            return
    raise ValueError("nested too deeply")


def is_finite(value: Json) -> bool:
    """Return whether no number in a JSON value is NaN or infinite: Python writes those, and no database takes them."""
    match value:
        case float():
            return math.isfinite(value)
        case dict():
            return all(map(is_finite, value.values()))
        case list():
            return all(map(is_finite, value))
    return True


def canonical_json(value: Json) -> str:
    """Write JSON with sorted keys, no spaces and no escapes; equal values give equal text."""
    return _ENCODER.encode(value)


def canonical_hash(value: Json) -> str:
    """Return the SHA-256 of the canonical form, in hex."""
    # JSON may hold lone surrogates, which plain UTF-8 refuses.
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()
