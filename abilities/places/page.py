"""The page that asks a phone where it is, once: `/place/TOKEN`.

Opening a link uses nothing up, as chats open links to preview them; the place that the phone tells does.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import structlog
from aiohttp import web

from abilities.places.links import PATH, PlaceLink, PlaceLinks
from channels.http.connections import proven, proves_in_its_handler
from channels.http.middleware import FORM_TYPE, read_form
from channels.http.pages.languages import speaking_to
from channels.http.pages.templates import Templates, page_headers
from core.clock import Clock
from core.errors import RequestRefused
from core.ids import PARTITION, make_id
from core.language.catalogue import gettext
from core.messaging.places import SentPlace, read_place
from core.queue.wakeups import Wakeups
from onevalet.foundations import WebFoundation

_FOLDER = Path(__file__).parent / "templates"
_TEMPLATES = Templates(_FOLDER)
_TOKEN = re.compile(rf"{PARTITION}[0-9a-f]{{32}}")
_NUMBER = re.compile(r"-?[0-9]{1,6}(?:\.[0-9]{1,20})?")
_SCRIPT = "here.js"
_log = structlog.get_logger()


def open_routes(foundation: WebFoundation) -> Sequence[web.RouteDef]:
    """Return the page's routes; none without a public address, at which it would be."""
    if not foundation.settings.public_url:
        return ()
    links = PlaceLinks(foundation.database, foundation.settings.public_url, foundation.credentials.keys)
    return PlacePage(links, foundation.clock, foundation.wakeups).routes()


class PlacePage:
    """Serve the page."""

    def __init__(self, links: PlaceLinks, clock: Clock, wakeups: Wakeups) -> None:
        self._links = links
        self._clock = clock
        self._wakeups = wakeups
        origin = urlsplit(links.public_url)
        self._origin = f"{origin.scheme}://{origin.netloc}"

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            proven(web.get(f"{PATH}/{_SCRIPT}", _script), proves_in_its_handler),
            proven(web.get(f"{PATH}/{{token}}", self._show), self._shown),
            proven(web.post(f"{PATH}/{{token}}", self._take), self._shown),
        ]

    def _shown(self, request: web.Request) -> str | None:
        token = request.match_info["token"]
        return f"place {token}" if self._links.tokens.is_ours(token) else None

    async def _show(self, request: web.Request) -> web.StreamResponse:
        token = request.match_info["token"]
        link = await self._links.read(token, self._clock.now()) if _TOKEN.fullmatch(token) else None
        if link is None:
            return await self._over(request, 404)
        with speaking_to(request, link.language):
            return _ask_page(link, token)

    async def _take(self, request: web.Request) -> web.StreamResponse:
        token = request.match_info["token"]
        tenant_id = await self._links.find(token) if _TOKEN.fullmatch(token) else None
        if tenant_id is None:
            return await self._over(request, 404)
        if not self._is_ours(request):
            raise RequestRefused("form of another page", status=403)
        form = await read_form(request)
        now = self._clock.now()
        with speaking_to(request, await self._links.language(token)):
            try:
                place = _place_in({name: str(value) for name, value in form.items()})
            except RequestRefused:
                link = await self._links.read(token, now)
                return _ask_page(link, token, wrong=True) if link else await self._over(request, 409)
            said = gettext("I know where you are now, for 24 hours at most. You can ask me again.")
            taken, conversation = await self._links.take(tenant_id, token, place, said, make_id, now)
            if not taken:
                return await self._over(request, 409)
            if conversation:
                self._wakeups.wake_delivery(conversation)
            _log.info("place_told")
            return _TEMPLATES.page("told.html", {})

    async def _over(self, request: web.Request, status: int) -> web.Response:
        """Return the page of a link that has ended or never existed."""
        token = request.match_info["token"]
        known = await self._links.language(token) if _TOKEN.fullmatch(token) else ""
        with speaking_to(request, known):
            return _TEMPLATES.page("over.html", {}, status=status)

    def _is_ours(self, request: web.Request) -> bool:
        """Return whether a form comes from our own page."""
        if request.content_type != FORM_TYPE or request.headers.get("Origin", self._origin) != self._origin:
            return False
        return request.headers.get("Sec-Fetch-Site", "same-origin") == "same-origin"


def _ask_page(link: PlaceLink, token: str, *, wrong: bool = False) -> web.Response:
    values = {"whose": link.whose or gettext("you"), "address": f"{PATH}/{token}", "wrong": wrong}
    return _TEMPLATES.page("ask.html", values, status=422 if wrong else 200, scripts=True)


def _place_in(form: dict[str, str]) -> SentPlace:
    """Return the place in a form. Raises `RequestRefused` unless it has one."""
    latitude, longitude, accuracy = (_number(form.get(name, "")) for name in ("latitude", "longitude", "accuracy"))
    return read_place(latitude, longitude, accuracy)


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


async def _script(_: web.Request) -> web.Response:
    headers = {**page_headers(), "Cache-Control": "no-cache"}
    return web.Response(text=_read_script(), content_type="text/javascript", charset="utf-8", headers=headers)


@cache
def _read_script() -> str:
    return (_FOLDER / _SCRIPT).read_text()
