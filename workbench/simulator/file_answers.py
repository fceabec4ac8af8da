"""Files of conversations as the page opens them: from its own address, although anyone may have made them."""

import re
from urllib.parse import quote

from aiohttp import web

from workbench.simulator.base import OpenedFile

_DRAWN = re.compile(r"image/(jpeg|png|gif|webp|avif|bmp)|audio/[\w.+-]+|video/[\w.+-]+|application/pdf")
_READ = frozenset({"text/plain", "text/csv", "text/markdown", "text/calendar", "text/vcard"})


def file_answer(file: OpenedFile) -> web.Response:
    """Return a file as a response: a type that browsers do not run is opened in place, any other is saved."""
    kind, shown = file.content_type.partition(";")[0].strip().lower(), "inline"
    if kind in _READ:
        kind = "text/plain; charset=utf-8"
    elif not _DRAWN.fullmatch(kind):
        kind, shown = "application/octet-stream", "attachment"
    headers = {
        "Content-Type": kind,
        "Content-Disposition": f"{shown}; filename*=UTF-8''{quote(file.name, safe='')}",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'",
        "Cache-Control": "no-cache",
    }
    return web.Response(body=file.data, headers=headers)
