"""Read required and optional fields of a provider's JSON by type; another type refuses the request."""

from core.errors import RequestRefused
from core.json_types import JsonObject


def object_at(parent: JsonObject, name: str) -> JsonObject:
    """Return a required object. Raises `RequestRefused`."""
    value = parent.get(name)
    if not isinstance(value, dict):
        raise RequestRefused(f"{name} is not an object")
    return value


def text_at(parent: JsonObject, name: str) -> str:
    """Return a text, empty if there is none. Raises `RequestRefused`."""
    value = parent.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RequestRefused(f"{name} is not a text")
    return value
