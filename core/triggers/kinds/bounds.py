"""Bounds of a trigger's fields, checked when it is created, so that no later computation can overflow."""

import json
from datetime import datetime

from core.json_types import JsonObject

FIRST_YEAR, LAST_YEAR = 1970, 2199
"""Years in which no conversion between zones can overflow a date."""
MAX_COUNT = 1_000_000
MAX_TEXT = 2000
MAX_JSON = 10_000
_MAX_DEPTH = 20


class TriggerError(ValueError):
    """A trigger that makes no sense; the message is one plain sentence."""


def check_moment(name: str, value: object) -> None:
    """Raise `TriggerError` unless a value is None or a moment within these years."""
    if value is None:
        return
    if not isinstance(value, datetime):
        raise TriggerError(f"The {name} is a date and time, such as 2027-01-31T15:00.")
    if not FIRST_YEAR <= value.year <= LAST_YEAR:
        raise TriggerError(f"The {name} lies between {FIRST_YEAR} and {LAST_YEAR}; leave it out for no limit.")


def check_number(value: object, low: float, high: float, sentence: str) -> None:
    """Raise `TriggerError(sentence)` unless a value is a number within inclusive bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise TriggerError(sentence)


def check_count(value: object) -> None:
    """Raise `TriggerError` unless a value is None or a valid number of runs."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_COUNT:
        raise TriggerError(f"The count is a whole number from one to {MAX_COUNT:,}.")


def check_text(name: str, value: object, limit: int | None = None) -> None:
    """Raise `TriggerError` unless a value is storable text of at most so many characters."""
    if not isinstance(value, str) or "\x00" in value:
        raise TriggerError(f"The {name} is a text.")
    if limit is not None and len(value) > limit:
        raise TriggerError(f"The {name} has {limit} characters at most.")


def check_object(name: str, value: object) -> None:
    """Raise `TriggerError` unless a value is a storable JSON object of bounded depth."""
    if not isinstance(value, dict) or _depth(value) > _MAX_DEPTH:
        raise TriggerError(f"The {name} is an object of fields, {_MAX_DEPTH} levels deep at most.")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TriggerError(f"The {name} holds a value that cannot be kept, such as NaN.") from error


def check_size(name: str, value: JsonObject) -> None:
    if len(json.dumps(value)) > MAX_JSON:
        raise TriggerError(f"The {name} is too long: {MAX_JSON:,} characters at most.")


def _depth(value: object) -> int:
    """Return the depth of a JSON value, or a depth beyond the bound."""
    depth, level = 0, [value]
    while level and depth <= _MAX_DEPTH:
        depth += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
        ]
    return depth
