"""The checks of every channel before it reads a request: a header occurs once, UTF-8, and a JSON object."""

from aiohttp import web

from core.errors import RequestRefused
from core.json_types import JsonObject, read_json


def only_header(request: web.Request, name: str) -> str | None:
    """Return a header that must occur exactly once, else None."""
    values = request.headers.getall(name, [])
    return values[0] if len(values) == 1 else None


def check_type(request: web.Request, *content_types: str) -> None:
    """Raise `RequestRefused` (415) unless the body has a content type from the list, and is UTF-8."""
    if request.content_type not in content_types:
        raise RequestRefused(f"content type is not {' or '.join(content_types)}", status=415)
    if (request.charset or "utf-8").lower() != "utf-8":
        raise RequestRefused("not UTF-8", status=415)


def json_object(raw: bytes) -> JsonObject:
    """Return the JSON object of a body, strictly in UTF-8. Raises `RequestRefused`."""
    try:
        value = read_json(raw.decode())
    except ValueError:  # no JSON, not UTF-8, or nested too deeply; the error would quote the text
        raise RequestRefused("JSON cannot be decoded") from None
    if not isinstance(value, dict):
        raise RequestRefused("JSON is not an object")
    return value
