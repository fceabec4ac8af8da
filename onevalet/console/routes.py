"""What answers at the console's addresses: signing in, the pages, and what they load."""

import functools
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from aiohttp import web

from core.console.sign_in import PATH
from core.db.database import Database
from core.errors import RequestRefused
from onevalet.console.access import ConsoleAccess, SignInNeeded, Visit
from onevalet.console.door import Handler
from onevalet.console.live import LivePages, PageVersions
from onevalet.console.reading.conversations import (
    PAGE,
    Cursor,
    find_conversation,
    list_conversations,
    read_messages,
)
from onevalet.console.reading.health import read_health
from onevalet.console.reading.paths import find_turn, read_path
from onevalet.console.rendering import HEADERS, STATIC, Renderer
from onevalet.console.texts import Texts

_TOKEN = re.compile(r"[\w-]{43}")
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

type Page = Callable[["ConsoleRoutes", web.Request, Visit], Awaitable[web.StreamResponse]]


def signed_in(page: Page) -> Callable[["ConsoleRoutes", web.Request], Awaitable[web.StreamResponse]]:
    """Answer with a page for a visitor with a session, and with how to get one for any other."""

    @functools.wraps(page)
    async def answer(routes: "ConsoleRoutes", request: web.Request) -> web.StreamResponse:
        try:
            visit = await routes.access.visit(request)
        except SignInNeeded:
            return routes.sign_in_page("Sign in", status=401)
        return await page(routes, request, visit)

    return answer


class ConsoleRoutes:
    """Serve the console."""

    def __init__(self, access: ConsoleAccess, database: Database, texts: Texts) -> None:
        self.access = access
        self._database = database
        self._texts = texts
        self._renderer = Renderer()
        self._versions = PageVersions(database)
        self._live = LivePages(self._versions)
        self._static = {path.name: path for path in STATIC.iterdir() if path.suffix in _TYPES}

    def handlers(self) -> Mapping[str, Handler]:
        """Return what answers each of the door's addresses, by name."""
        return {
            "conversations": self._conversations,
            "conversation": self._conversation,
            "turn": self._turn,
            "health": self._health,
            "live": self._stream,
            "show_link": self._show_link,
            "use_link": self._use_link,
            "sign_out": self._sign_out,
            "file": self._file,
        }

    def sign_in_page(self, title: str, *, token: str = "", status: int = 200) -> web.Response:
        """Return the page of somebody without a session."""
        return self._renderer.page(
            "sign_in.html", None, self.access.clock.now(), {"title": title, "token": token}, status=status
        )

    @signed_in
    async def _conversations(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        channel, after = request.query.get("channel", "")[:20], Cursor.read(request.query.get("after", ""))
        rows = await list_conversations(self._database, visit.viewer, channel=channel, after=after)
        rows = [
            row if self._texts.may_preview(visit.viewer, row.tenant_id) else replace(row, last_text="") for row in rows
        ]
        version = await self._versions.of(f"{PATH}/conversations", visit.viewer)
        following = str(rows[-1].cursor) if rows and len(rows) == PAGE else ""
        return self._page(
            "conversations.html",
            visit,
            here="conversations",
            rows=rows,
            channel=channel,
            after=bool(after),
            next=following,
            version=version,
        )

    @signed_in
    async def _conversation(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        tenant, wanted = request.match_info["tenant"], request.match_info["conversation"]
        if not visit.viewer.sees(tenant):
            return self._nothing(visit)
        async with self._database.tenant(tenant) as connection:
            row = await find_conversation(connection, tenant, wanted)
            if row is None:
                return self._nothing(visit)
            page = await read_messages(connection, tenant, wanted, request.query.get("before", ""))
            may_read = await self._texts.look(
                connection, visit.viewer, tenant, "conversation", wanted, self.access.clock.now()
            )
        version = await self._versions.conversation(tenant, wanted)
        return self._page(
            "conversation.html", visit, here="conversations", row=row, page=page, may_read=may_read, version=version
        )

    @signed_in
    async def _turn(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        found = await find_turn(self._database, request.match_info["id"])
        if found is None or not visit.viewer.sees(found[0]):
            return self._nothing(visit)
        tenant, turn = found
        async with self._database.tenant(tenant) as connection:
            path = await read_path(connection, tenant, turn)
            may_read = await self._texts.look(connection, visit.viewer, tenant, "turn", turn, self.access.clock.now())
        version = await self._versions.turn(turn, visit.viewer)
        return self._page("turn.html", visit, here="conversations", path=path, may_read=may_read, version=version)

    @signed_in
    async def _health(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        if not visit.viewer.operator:
            return self._nothing(visit)
        health = await read_health(self._database, self.access.clock.now())
        version = await self._versions.health()
        return self._page(
            "health.html", visit, here="health", figures=health.figures, checks=health.checks, version=version
        )

    @signed_in
    async def _stream(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        return await self._live.stream(request, visit.viewer)

    async def _show_link(self, request: web.Request) -> web.StreamResponse:
        token = request.match_info["token"]
        if not _TOKEN.fullmatch(token) or not await self.access.sign_in.is_good(token, self.access.clock.now()):
            return self.sign_in_page("This link was used already, or is too old", status=404)
        return self.sign_in_page("Sign in to the console", token=token)

    async def _use_link(self, request: web.Request) -> web.StreamResponse:
        self.access.check_origin(request)
        token = request.match_info["token"]
        good = _TOKEN.fullmatch(token)
        session = await self.access.sign_in.begin(token, self.access.clock.now()) if good else None
        if session is None:
            return self.sign_in_page("This link was used already, or is too old", status=404)
        response = web.Response(status=303, headers={**HEADERS, "Location": PATH})
        self.access.keep(response, session)
        return response

    @signed_in
    async def _sign_out(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        if not visit.is_local:
            await self.access.sign_in.end(visit.viewer, visit.session)
        response = web.Response(status=303, headers={**HEADERS, "Location": PATH})
        self.access.drop(response)
        return response

    async def _file(self, request: web.Request) -> web.StreamResponse:
        path = self._static.get(request.match_info["name"])
        if path is None:
            raise RequestRefused("no such file", status=404)
        headers = {**HEADERS, "Cache-Control": "no-cache"}
        return web.Response(text=path.read_text(), content_type=_TYPES[path.suffix], charset="utf-8", headers=headers)

    def _nothing(self, visit: Visit) -> web.Response:
        """Answer the same for what is not there and for what is not theirs."""
        values: Mapping[str, object] = {
            "here": "",
            "title": "Nothing is here",
            "sentence": "Nothing is known by this address, or it is not yours to see.",
        }
        return self._renderer.page("problem.html", visit, self.access.clock.now(), values, status=404)

    def _page(self, template: str, visit: Visit, **values: object) -> web.Response:
        return self._renderer.page(template, visit, self.access.clock.now(), values)
