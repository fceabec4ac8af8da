"""The console's routes: signing in, the pages, and their updates."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

from aiohttp import web

from channels.http.middleware import check_address
from core.errors import ConfigError, RequestRefused
from core.ids import PARTITION
from operations.console.access import NothingHere
from operations.console.live import LivePages, version_of
from operations.console.pages.base import LOOK, Kit, MakePages, Pages, asks_who_it_is, signed_in
from operations.console.pages.every import PAGES
from operations.console.pages.people import PLACE
from operations.console.reading.conversations import (
    PAGE,
    Cursor,
    find_conversation,
    list_conversations,
    read_messages,
)
from operations.console.reading.health import read_health
from operations.console.reading.prompts import prompts_of
from operations.console.rendering import HEADERS
from operations.console.sign_in import PATH
from operations.console.visits import Visit
from operations.paths.turn_path import read_path

HIDDEN = "(hidden)"
"""The placeholder for a text that belongs to another person."""
_TOKEN = re.compile(rf"{PARTITION}[0-9a-f]{{32}}")


class ConsoleRoutes(Pages):
    """Serve the console. `further` are the pages of abilities. Raises `ConfigError` if a page is open to anyone."""

    def __init__(self, kit: Kit, further: Iterable[MakePages] = ()) -> None:
        super().__init__(kit)
        self._further = [route for make in further for route in make(kit).routes()]
        for route in self._further:
            if not asks_who_it_is(route) or not route.path.startswith(f"{PATH}/"):
                raise ConfigError(f"The page {route.path} must be below {PATH}/ and marked with @signed_in.")
        self.visits = kit.visits
        self._texts = kit.texts
        self._live = LivePages()
        self._pages = web.UrlDispatcher()

    def routes(self) -> Sequence[web.RouteDef]:
        pages = [
            web.get(PATH, self._conversations),
            web.get(f"{PATH}/conversations", self._conversations),
            web.get(f"{PATH}/conversations/{{tenant}}/{{conversation}}", self._conversation),
            web.get(f"{PATH}/turns/{{id}}", self._turn),
            web.get(f"{PATH}/health", self._health),
            *(route for pages in PAGES for route in pages(self.kit).routes()),
            *self._further,
        ]
        self._pages.add_routes(route for route in pages if route.method == "GET" and asks_who_it_is(route))
        return [
            *pages,
            web.get(f"{PATH}/live", self._stream),
            web.get(f"{PATH}/sign-in/{{token}}", self._show_link),
            web.post(f"{PATH}/sign-in/{{token}}", self._use_link),
            web.post(f"{PATH}/sign-out", self._sign_out),
        ]

    @signed_in
    async def _conversations(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        channel, after = request.query.get("channel", "")[:20], Cursor.read(request.query.get("after", ""))
        rows = await list_conversations(visit.scope, channel=channel, after=after)
        rows = [
            row if self._texts.may_preview(visit.viewer, row.tenant_id) else replace(row, last_text=HIDDEN)
            for row in rows
        ]
        following = str(rows[-1].cursor) if rows and len(rows) == PAGE else ""
        return self.kit.page(
            "conversations.html",
            visit,
            here="conversations",
            rows=rows,
            channel=channel,
            after=bool(after),
            next=following,
            version=version_of(rows),
        )

    @signed_in
    async def _conversation(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        tenant, wanted = request.match_info["tenant"], request.match_info["conversation"]
        async with visit.scope.tenant(tenant) as connection:
            row = await find_conversation(connection, tenant, wanted)
            if row is None:
                raise NothingHere
            page = await read_messages(connection, tenant, wanted, request.query.get("before", ""))
            may_read = await self._texts.look(
                connection, visit, tenant, "conversation", wanted, self.visits.clock.now()
            )
        return self.kit.page(
            "conversation.html",
            visit,
            here="conversations",
            row=row,
            page=page,
            may_read=may_read,
            version=version_of(row, page),
        )

    @signed_in
    async def _turn(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        tenant, turn = await visit.scope.turn(request.match_info["id"])
        async with visit.scope.tenant(tenant) as connection:
            may_read = await self._texts.look(connection, visit, tenant, "turn", turn, self.visits.clock.now())
            path = await read_path(connection, tenant, turn)
            prompts = await prompts_of(connection, path) if may_read and not visit.live else {}
        doing = await self.kit.doing(turn) if path.finished_at is None and may_read else ""
        return self.kit.page(
            "turn.html",
            visit,
            here="conversations",
            path=path,
            prompts=prompts,
            may_read=may_read,
            doing=doing,
            version=version_of(path, doing),
        )

    @signed_in
    async def _health(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        health = await read_health(visit.scope, self.kit.machine_now(), self.kit.ways_in())
        return self.kit.page(
            "health.html",
            visit,
            here="health",
            figures=health.figures,
            checks=health.checks,
            version=version_of(health.lasting),
        )

    @signed_in
    async def _stream(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        try:
            page = request.clone(rel_url=request.query.get("page", ""))
        except ValueError:
            raise RequestRefused("page is no address") from None
        check_address(page)
        page[LOOK] = replace(visit, live=True)
        match = await self._pages.resolve(page)
        page.match_info.clear()
        page.match_info.update(match)
        return await self._live.stream(request, visit.viewer, partial(_version, match, page))

    async def _show_link(self, request: web.Request) -> web.StreamResponse:
        token = request.match_info["token"]
        if not _TOKEN.fullmatch(token) or not await self.visits.sign_in.is_good(token, self.visits.clock.now()):
            return self.kit.sign_in("This link was used already, or is too old", status=404)
        return self.kit.sign_in("Sign in to the console", token=token, query=_query(request))

    async def _use_link(self, request: web.Request) -> web.StreamResponse:
        self.visits.check_origin(request)
        token = request.match_info["token"]
        good = _TOKEN.fullmatch(token)
        session = await self.visits.sign_in.begin(token, self.visits.clock.now()) if good else None
        if session is None:
            return self.kit.sign_in("This link was used already, or is too old", status=404)
        place = PATH
        if query := _query(request):
            viewer = await self.visits.sign_in.viewer(session, self.visits.clock.now())
            place = f"{PLACE}/{viewer.tenant_id}{query}#programs" if viewer else PATH
        response = web.Response(status=303, headers={**HEADERS, "Location": place})
        self.visits.keep(response, session)
        return response

    @signed_in
    async def _sign_out(self, request: web.Request, visit: Visit) -> web.StreamResponse:
        if not visit.is_local:
            await self.visits.sign_in.end(visit.viewer, visit.session)
        response = web.Response(status=303, headers={**HEADERS, "Location": PATH})
        self.visits.drop(response)
        return response


async def _version(match: web.UrlMappingMatchInfo, page: web.Request) -> str:
    """Return the version of an open page, for which its own handler is asked: it knows the rights of its viewers."""
    try:
        answer = await match.handler(page)
    except (RequestRefused, web.HTTPException):
        return ""
    return answer.text or "" if isinstance(answer, web.Response) else ""


def _query(request: web.Request) -> str:
    """Return the query of a link's target: the programs, with the name of a new program, or nothing."""
    if request.query.get("to") != "programs":
        return ""
    return "?" + urlencode({"to": "programs", "name": request.query.get("name", "")[:60]})
