"""From a proven request to an event: its body, type and id; pure."""

import hashlib
from datetime import UTC, datetime
from urllib.parse import parse_qs

from abilities.events.source_types import EventSource, Style
from abilities.events.types import Event
from abilities.events.verify import Headers, one_header
from core.errors import RequestRefused
from core.json_types import Json, JsonObject, read_json, storable

MAX_ID = 200
MAX_TYPE = 200
DEDUPE_WINDOW = 600
"""Seconds within which the same content without an id is the same event; up to twice as long."""

_ID_HEADERS = {Style.GITHUB: "X-GitHub-Delivery"}
_TYPE_HEADERS = {Style.GITHUB: "X-GitHub-Event"}
_FORM = "application/x-www-form-urlencoded"


def read_event(source: EventSource, headers: Headers, content_type: str, body: bytes, now: float) -> tuple[Event, str]:
    """Read a request of this source; return the event, and the id that it would have had a window earlier, if any.

    Raises `RequestRefused` for a malformed request.
    """
    data = _read_body(content_type, body)
    id, also = _id(source, headers, data, body, now)
    occurred = None
    created = data.get("created")
    if source.style is Style.STRIPE and isinstance(created, int) and 0 < created < 2**33:
        occurred = datetime.fromtimestamp(created, tz=UTC)
    return Event(source.name, _type(source, headers, data), data, id, source.tenant_id, occurred), also


def _id(source: EventSource, headers: Headers, data: JsonObject, body: bytes, now: float) -> tuple[str, str]:
    options = source.options
    event_id = _proven_header(source, headers, options.id_header or _ID_HEADERS.get(source.style, "X-Event-Id"))
    event_id = storable(event_id or _text(data, options.id_field or "id"))
    if event_id:
        return (event_id if len(event_id) <= MAX_ID else f"sha256:{hashlib.sha256(event_id.encode()).hexdigest()}"), ""
    # Nothing tells a repeated delivery from a second event with the same words but the time between them.
    digest, window = hashlib.sha256(body).hexdigest(), int(now // DEDUPE_WINDOW)
    return f"content:{digest}:{window}", f"content:{digest}:{window - 1}"


def _type(source: EventSource, headers: Headers, data: JsonObject) -> str:
    options = source.options
    event_type = _proven_header(source, headers, options.type_header or _TYPE_HEADERS.get(source.style, "X-Event-Type"))
    action = data.get("action")
    if event_type and source.style is Style.GITHUB and isinstance(action, str):
        event_type = f"{event_type}.{action}"
    event_type = storable(event_type or _text(data, options.type_field or "type") or "event")
    return event_type[:MAX_TYPE]


def _proven_header(source: EventSource, headers: Headers, name: str) -> str:
    return "" if source.style.signs_body_only else one_header(headers, name)


def _text(data: JsonObject, path: str) -> str:
    at: Json = data
    for name in path.split("."):
        at = at.get(name) if isinstance(at, dict) else None
    return str(at) if isinstance(at, str | int) and not isinstance(at, bool) else ""


def _read_body(content_type: str, body: bytes) -> JsonObject:
    if content_type == _FORM:
        # GitHub's default: the JSON in a field of a form.
        body = _form_payload(body)
    try:
        read = read_json(body)
    except ValueError as error:
        raise RequestRefused("body is not JSON") from error
    return read if isinstance(read, dict) else {"value": read}


def _form_payload(body: bytes) -> bytes:
    try:
        [payload] = parse_qs(body.decode("ascii"), strict_parsing=True, max_num_fields=20)["payload"]
    except (ValueError, KeyError) as error:
        raise RequestRefused("form without payload") from error
    return payload.encode(errors="replace")
