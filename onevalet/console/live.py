"""What changes is told to the page that shows it: its version is looked at each second while it is open."""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass, field

from aiohttp import web

from core.console.sign_in import Viewer
from core.db.database import Database
from core.errors import RequestRefused, StoreUnavailable
from onevalet.console.rendering import HEADERS

EVERY = 1.0
"""Seconds between two looks."""
MAX_STREAMS = 50
"""Pages of one process that are told at once; others show what was when they were opened."""
LASTS = 300.0
"""Seconds after which the browser connects again, so that a session that has ended shows nothing more."""

_CONVERSATION = re.compile(r"/console/conversations/([\w-]{1,64})/([\w-]{1,64})")
_TURN = re.compile(r"/console/turns/([\w-]{1,64})")


@dataclass(slots=True)
class LivePages:
    """Tell pages of changes. `versions`: how the version of what a page shows is read."""

    versions: "PageVersions"
    open: int = field(default=0, init=False)

    async def stream(self, request: web.Request, viewer: Viewer) -> web.StreamResponse:
        """Answer with events until the page is closed."""
        path, known = request.query.get("page", ""), request.query.get("version", "")
        if self.open >= MAX_STREAMS:
            raise RequestRefused("too many live pages", status=429)
        response = web.StreamResponse(
            headers={**HEADERS, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
        )
        await response.prepare(request)
        self.open += 1
        try:
            await response.write(b"retry: 3000\n\n")
            with suppress(ConnectionError):  # the page was closed
                await self._tell(response, path, known, viewer)
        finally:
            self.open -= 1
        return response

    async def _tell(self, response: web.StreamResponse, path: str, known: str, viewer: Viewer) -> None:
        loop = asyncio.get_running_loop()
        end, quiet = loop.time() + LASTS, 0
        while loop.time() < end:
            try:
                version = await self.versions.of(path, viewer)
            except StoreUnavailable:
                version = known
            if version != known:
                known, quiet = version, 0
                await response.write(f"event: changed\ndata: {version}\n\n".encode())
            elif (quiet := quiet + 1) % 20 == 0:
                await response.write(b": here\n\n")  # a proxy ends what says nothing
            await asyncio.sleep(EVERY)


@dataclass(frozen=True, slots=True)
class PageVersions:
    """A short text for each page that changes when what is on it does."""

    database: Database

    async def of(self, path: str, viewer: Viewer) -> str:
        """Return the version of a page; empty for a page that never changes, or that the viewer may not see."""
        if match := _TURN.fullmatch(path):
            return await self.turn(match[1], viewer)
        if match := _CONVERSATION.fullmatch(path):
            return await self.conversation(match[1], match[2]) if viewer.sees(match[1]) else ""
        if path in ("/console", "/console/conversations"):
            return await self.everything() if viewer.operator else await self.person(viewer.tenant_id)
        return await self.health() if path == "/console/health" and viewer.operator else ""

    async def turn(self, turn_id: str, viewer: Viewer) -> str:
        found = await self.database.call("select tenant_id, turn_id from find_trace($1)", turn_id)
        if found is None or not viewer.sees(found["tenant_id"]):
            return ""
        return await self._of(
            found["tenant_id"],
            "select t.state || t.attempts || '.' || (select count(*) || '.' || count(s.finished_at) from steps s"
            "  where s.tenant_id = $1 and s.turn_id = $2)"
            " || coalesce((select string_agg(o.state || o.attempts, ',' order by o.id) from outbound o"
            "  where o.tenant_id = $1 and o.turn_id = $2), '')"
            " || coalesce((select string_agg(p.status, ',' order by p.outbound_id, p.part) from outbound_parts p"
            "  join outbound o on o.tenant_id = p.tenant_id and o.id = p.outbound_id"
            "  where o.tenant_id = $1 and o.turn_id = $2), '')"
            " as version from turns t where t.tenant_id = $1 and t.id = $2",
            found["turn_id"] or "",
        )

    async def conversation(self, tenant_id: str, conversation: str) -> str:
        return await self._of(
            tenant_id,
            "select c.in_seq || '.' || c.out_seq || '.' || (select count(*) from outbound o where o.tenant_id = $1"
            "  and o.conversation_id = $2 and o.seq > c.out_seq - 20 and o.state in ('sent', 'failed'))"
            " as version from conversations c where c.tenant_id = $1 and c.id = $2",
            conversation,
        )

    async def person(self, tenant_id: str) -> str:
        return await self._of(
            tenant_id, "select max(last_inbound_at)::text as version from conversations where tenant_id = $1"
        )

    async def everything(self) -> str:
        row = await self.database.call("select last_at from console_conversations('', null, '', 1)")
        return row["last_at"].isoformat() if row else ""

    async def health(self) -> str:
        row = await self.database.one("select * from count_work()")
        return ".".join(str(value) for value in row.values())

    async def _of(self, tenant_id: str, statement: str, *args: object) -> str:
        row = await self.database.tenant_row(tenant_id, statement, *args)
        return str(row["version"] or "") if row else ""
