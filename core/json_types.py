"""JSON as a type, so that no untyped bag crosses a folder's border."""

import re

type Json = None | bool | int | float | str | list[Json] | dict[str, Json]
type JsonObject = dict[str, Json]

# Postgres refuses NUL in text and jsonb, and UTF-8 has no lone surrogates, though JSON can write both.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable[Value](value: Value) -> Value:
    """Give the same JSON value without what no database takes: what surrounds it is kept, not lost."""
    match value:
        case str():
            return _UNSTORABLE.sub(lambda m: "" if m[0] == "\x00" else "\ufffd", value)  # type: ignore[return-value]
        case dict():
            return {storable(k): storable(v) for k, v in value.items()}  # type: ignore[return-value]
        case list() | tuple():
            return [storable(v) for v in value]  # type: ignore[return-value]
    return value
