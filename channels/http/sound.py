"""What HTTP brings, made sound text before any handler: the one place that knows how odd a request may be.

A NUL, a lone surrogate or bytes that are no UTF-8 end in an encoder or in Postgres otherwise, each in a place of its
own. In headers, where other programs of the same host put theirs (cookies), such letters are replaced; in an address or
a form, which only we make, the request is refused.
"""

import re
from urllib.parse import parse_qsl

from aiohttp import web
from aiohttp.typedefs import Handler
from multidict import CIMultiDict, MultiDict

from core.errors import RequestRefused

FORM_TYPE = "application/x-www-form-urlencoded"
MAX_FIELDS = 1000
_UNSOUND = re.compile("[\x00\ud800-\udfff]")
_CHARSETS = frozenset({"utf-8", "utf8", "us-ascii"})


@web.middleware
async def sound_requests(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse an address that is no text, a charset that is not UTF-8, and parts; replace what is none in headers."""
    if any(_UNSOUND.search(value) for value in (request.path, *request.match_info.values())):
        raise RequestRefused("address is no text")
    if request.query_string and any(_UNSOUND.search(part) for pair in request.query.items() for part in pair):
        raise RequestRefused("query is no text")
    if (charset := _charset(request)) is None or charset not in _CHARSETS:
        raise RequestRefused("not UTF-8", status=415)
    if request.content_type.startswith("multipart/"):
        raise RequestRefused("body in parts", status=415)
    if any(_UNSOUND.search(value) for value in request.headers.values()):
        request = request.clone(
            headers=CIMultiDict((name, _UNSOUND.sub("\ufffd", value)) for name, value in request.headers.items())
        )
    return await handler(request)


async def read_form(request: web.Request) -> MultiDict[str]:
    """Return the fields of a form; none of a body that is none. Raises `RequestRefused`."""
    if request.content_type != FORM_TYPE:
        return MultiDict()
    try:
        pairs = parse_qsl(
            (await request.read()).decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
        )
    except ValueError:  # not UTF-8, or too many fields
        raise RequestRefused("form cannot be decoded") from None
    if any(_UNSOUND.search(part) for pair in pairs for part in pair):
        raise RequestRefused("form is no text")
    return MultiDict(pairs)


def _charset(request: web.Request) -> str | None:
    try:
        return (request.charset or "utf-8").lower()
    except ValueError:
        return None
