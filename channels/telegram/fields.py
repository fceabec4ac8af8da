"""Read fields of Telegram's JSON by type; another type refuses the update."""

from datetime import UTC, datetime

from channels.fields import text_at
from core.errors import RequestRefused
from core.json_types import Json, JsonObject

LARGEST = 2**53


def without_nulls(update: JsonObject) -> JsonObject:
    """Return an update in which a field that is null is absent, at any depth: to Telegram both mean the same."""
    return {name: _without_nulls(value) for name, value in update.items() if value is not None}


def _without_nulls(value: Json) -> Json:
    match value:
        case dict():
            return without_nulls(value)
        case list():
            return [_without_nulls(item) for item in value if item is not None]
    return value


def integer_at(parent: JsonObject, name: str, at_least: int = -LARGEST) -> int:
    """Return a required number. Raises `RequestRefused`."""
    value = parent.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not at_least <= value < LARGEST:
        raise RequestRefused(f"{name} is not a number of Telegram's")
    return value


def required_text_at(parent: JsonObject, name: str) -> str:
    """Return a text that must be there. Raises `RequestRefused`."""
    value = text_at(parent, name)
    if not value:
        raise RequestRefused(f"{name} is missing")
    return value


def moment(seconds: int) -> datetime | None:
    """Return a moment from Unix seconds; None if it is later than any calendar."""
    try:
        return datetime.fromtimestamp(seconds, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return None
