"""`GET /static/{name}`: the style sheet, script and icon of all pages."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from aiohttp import web

from channels.http.connections import proven, proves_in_its_handler
from channels.http.pages.templates import page_headers
from core.errors import RequestRefused

PATH = "/static"
_FOLDER = Path(__file__).parent / "static"
_SHEETS = ("tokens.css", "elements.css", "path.css", "console.css", "forms.css", "alone.css")
"""The parts of the style sheet, in order: a later rule overrides an earlier one."""
_SCRIPT, _ICON = "live.js", "icon.svg"
_FILES = {
    "pages.css": ("text/css", _SHEETS),
    _SCRIPT: ("text/javascript", (_SCRIPT,)),
    _ICON: ("image/svg+xml", (_ICON,)),
}


def static_routes() -> Sequence[web.RouteDef]:
    """Return the route. It is open beyond the limit of bad requests, whose answer is a page with this style, too."""
    return [proven(web.get(f"{PATH}/{{name}}", _answer), proves_in_its_handler)]


async def _answer(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    if name not in _FILES:
        raise RequestRefused("no such file", status=404)
    kind, _ = _FILES[name]
    headers = {**page_headers(), "Cache-Control": "no-cache"}
    return web.Response(text=_read(name), content_type=kind, charset="utf-8", headers=headers)


@cache
def _read(name: str) -> str:
    _, parts = _FILES[name]
    return "\n".join((_FOLDER / part).read_text() for part in parts)
