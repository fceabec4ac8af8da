"""`/export/{token}`: all data of a person as a zip file, for anyone with the link, once.

Opening a link uses nothing up, as chats open links to preview them; its button does.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Protocol

import structlog
from aiohttp import web

from channels.http.connections import proven
from channels.http.pages.languages import speaking_to
from channels.http.pages.templates import Templates, page_headers
from channels.http.readers import Taking, leave
from core.clock import Clock
from core.errors import RequestRefused, StoreUnavailable
from operations.tenants.links import PATH, ExportLinks, LinkedPerson

AT_ONCE = 2
"""Archives that a process makes at once, each of another person: it holds a connection to the database meanwhile."""
_MAX_TOKEN = 100
_TEMPLATES = Templates(Path(__file__).parent / "templates")
_log = structlog.get_logger()


class Archives(Protocol):
    """A maker of archives: `operations.tenants.export.Exporter`."""

    def pieces(self, tenant_id: str) -> AsyncGenerator[bytes]:
        """Yield a person's archive piece by piece."""
        ...


class ExportRoutes:
    """Serve archives by their links. `load` returns the maker of archives; it is called at the first download."""

    def __init__(self, links: ExportLinks, load: Callable[[], Archives], clock: Clock) -> None:
        self._links = links
        self._load = load
        self._clock = clock
        self._archives: Archives | None = None
        self._making = set[str]()

    def routes(self) -> Sequence[web.RouteDef]:
        routes = (web.get(f"{PATH}/{{token}}", self._show), web.post(f"{PATH}/{{token}}", self._hand_out))
        return [proven(route, self._shown) for route in routes]

    def _shown(self, request: web.Request) -> str | None:
        token = _token(request)
        return f"export {token}" if self._links.tokens.is_ours(token) else None

    async def _show(self, request: web.Request) -> web.StreamResponse:
        person = await self._links.find(_token(request), self._clock.now())
        return _page(request, person)

    async def _hand_out(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise RequestRefused("form of another page", status=403)
        known = await self._links.find(_token(request), self._clock.now())
        if known is None:
            return _page(request, None)
        if known.tenant_id in self._making or len(self._making) >= AT_ONCE:
            raise StoreUnavailable("other archives are made just now")
        self._making.add(known.tenant_id)
        try:
            person = await self._links.use(_token(request), self._clock.now())
            return _page(request, None) if person is None else await self._stream(request, person)
        finally:
            self._making.remove(known.tenant_id)

    async def _stream(self, request: web.Request, person: LinkedPerson) -> web.StreamResponse:
        if self._archives is None:
            self._archives = await asyncio.to_thread(self._load)
        name = f"onevalet-{self._clock.now():%Y-%m-%d}.zip"
        response = web.StreamResponse(
            headers={
                **page_headers(),
                "Content-Type": "application/zip",
                "Content-Disposition": f'attachment; filename="{name}"',
            }
        )
        await response.prepare(request)
        taking = Taking()
        try:
            async with aclosing(self._archives.pieces(person.tenant_id)) as pieces:
                async for piece in pieces:
                    async with taking.of(len(piece)):
                        await response.write(piece)
            await response.write_eof()
        except (StoreUnavailable, OSError) as error:  # a timeout is an OSError, too
            _log.warning("export_cut", tenant=person.tenant_id, cause=type(error).__name__)
            leave(request)
        return response


def _token(request: web.Request) -> str:
    return request.match_info["token"][:_MAX_TOKEN]


def _page(request: web.Request, person: LinkedPerson | None) -> web.Response:
    """Return the page of a link: the same for a wrong, used and expired link, so that it reveals none of these."""
    with speaking_to(request, person.language if person else None):
        return _TEMPLATES.page("your_data.html", {"good": bool(person)}, status=200 if person else 404)
