"""A scenario as the text of a TOML file, short enough to read and to change by hand."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

_LONGEST_LINE = 100
_TABLES = ("settings", "web")


def to_toml(values: Mapping[str, Any]) -> str:
    """Return the text of a scenario's file; `values` are as `parse_scenario` takes them."""
    head = _lines({name: value for name, value in values.items() if name not in (*_TABLES, "step")})
    tables = ["\n".join([f"[{name}]", *_lines(values[name])]) for name in _TABLES if values.get(name)]
    steps = ["\n".join(["[[step]]", *_lines(step)]) for step in values["step"]]
    return "\n\n".join(["\n".join(head), *tables, *steps]) + "\n"


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(name)} = {_value(value)}" for name, value in table.items()]


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case str():
            return _text(value)
        case int() | float():
            return json.dumps(value)
        case Mapping():
            return f"{{ {', '.join(_lines(value))} }}" if value else "{}"
        case Sequence():
            return _list([_value(one) for one in value])
    raise TypeError(f"{type(value).__name__} cannot be written")


def _list(items: Sequence[str]) -> str:
    line = f"[{', '.join(items)}]"
    if len(line) <= _LONGEST_LINE:
        return line
    return "\n".join(["[", *(f"    {item}," for item in items), "]"])


def _text(value: str) -> str:
    # A basic string of TOML escapes as JSON does, and DEL besides.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name) else _text(name)
