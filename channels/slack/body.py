"""From a proven body to a JSON object: events come as JSON, interactions as JSON in a form, commands as a form.

Bolt's own reader is not used: it takes a command whose text contains the word "payload" for an empty request, and
raises on much else.
"""

from urllib.parse import parse_qsl

from channels.http.middleware import json_object
from core.errors import RequestRefused
from core.json_types import JsonObject

JSON_TYPE = "application/json"
FORM_TYPE = "application/x-www-form-urlencoded"
MAX_FIELDS = 100


def decode_body(raw: bytes, content_type: str) -> JsonObject:
    """Decode a body, strictly as UTF-8. Raises `RequestRefused`."""
    if content_type == JSON_TYPE:
        return json_object(raw)
    fields = _form(raw)
    if "payload" not in fields:
        return {**fields}
    if len(fields) > 1:
        raise RequestRefused("payload is not alone")
    return json_object(fields["payload"].encode(errors="surrogatepass"))


def _form(raw: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            raw.decode(), keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=MAX_FIELDS
        )
    except ValueError:  # too many fields, no form, or not UTF-8; the error would quote the text
        raise RequestRefused("form cannot be decoded") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise RequestRefused("field sent twice")
    return fields
