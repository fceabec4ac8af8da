"""Live updates of open pages: a page's version is read each second while it is open."""

import asyncio
import functools
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType

from aiohttp import web

from channels.http.deadlines import stops_within
from core.db.database import Database
from core.errors import RequestRefused, StoreUnavailable
from core.ids import PARTITION
from core.turns.types import TurnState
from operations.console.access import Viewer
from operations.console.rendering import HEADERS

EVERY = 1.0
"""Seconds between two looks."""
MAX_STREAMS = 50
"""Pages that a process updates at once; further pages stay as they were opened."""
MAX_OF_ONE = 5
"""The share of a single person, so that no person holds all streams."""
LASTS = 300.0
"""Seconds after which the browser connects again, so that a session that has ended shows nothing more."""
SHOWN = 50
"""The part of a list that its version covers: a page."""

_ID, _OTHER_ID = rf"{PARTITION}[\w-]{{1,64}}", r"[\w-]{1,64}"
_PERSON_ID = f"({_ID})"
_CONVERSATION = re.compile(rf"/console/conversations/{_PERSON_ID}/([\w-]{{1,64}})")
_TURN = re.compile(r"/console/turns/([\w-]{1,64})")
_APPROVAL = re.compile(rf"/console/waiting/approvals/{_PERSON_ID}/([\w-]{{1,64}})")
_PERSON = re.compile(rf"/console/people/{_PERSON_ID}")
_PART = re.compile(r"\{(\w+)\}")


type Version = Callable[[Database, Viewer, Mapping[str, str]], Awaitable[str]]
"""Returns the version of a page for its viewer, by the parts of its address; empty for a missing page."""
type Doing = Callable[[str], Awaitable[str]]
"""Returns a phrase for a running turn's current work; empty if unknown."""


async def nothing_told(turn_id: str) -> str:
    """Report no work of any turn."""
    return ""


@dataclass(slots=True)
class LivePages:
    """Report changes to pages. `versions` reads the version of a page's contents."""

    versions: "PageVersions"
    _open: list[tuple[str, web.Request]] = field(default_factory=list, init=False)
    """The updated pages, each with its person."""

    async def stream(self, request: web.Request, viewer: Viewer) -> web.StreamResponse:
        """Answer with events until the page is closed."""
        path, known = request.query.get("page", ""), request.query.get("version", "")
        # A closed page counts until the next look: a person who goes from page to page has a single page open.
        of_whom = [person for person, opened in self._open if not _is_closed(opened)]
        if len(of_whom) >= MAX_STREAMS or of_whom.count(viewer.tenant_id) >= MAX_OF_ONE:
            raise RequestRefused("too many live pages", status=429)
        response = web.StreamResponse(
            headers={**HEADERS, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
        )
        self._open.append((viewer.tenant_id, request))
        try:
            await response.prepare(request)
            await response.write(b"retry: 3000\n\n")
            with suppress(ConnectionError):  # the page was closed
                await self._tell(request, response, path, known, viewer)
        finally:
            self._open = [one for one in self._open if one[1] is not request]
        return response

    async def _tell(
        self, request: web.Request, response: web.StreamResponse, path: str, known: str, viewer: Viewer
    ) -> None:
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
                await response.write(b": here\n\n")  # a proxy ends silent connections
            if await stops_within(request, EVERY) or _is_closed(request):
                return


def _is_closed(request: web.Request) -> bool:
    """Return whether the client has closed the connection."""
    return request.transport is None or request.transport.is_closing()


@dataclass(frozen=True, slots=True)
class PageVersions:
    """A short text for each page that changes with the page's contents.

    `of_abilities` reads those of abilities' pages, by their addresses, as `ConsolePages` has them.
    """

    database: Database
    doing: Doing = nothing_told
    of_abilities: Mapping[str, Version] = MappingProxyType({})

    async def of(self, path: str, viewer: Viewer) -> str:
        """Return the version of a page; empty for a page that never changes, or that the viewer may not see."""
        if match := _TURN.fullmatch(path):
            return await self.turn(match[1], viewer)
        if match := _CONVERSATION.fullmatch(path):
            return await self.conversation(match[1], match[2]) if viewer.sees(match[1]) else ""
        if match := _APPROVAL.fullmatch(path):
            return await self.approval(match[1], match[2]) if viewer.sees(match[1]) else ""
        for address, version in self.of_abilities.items():
            if match := _pattern(address).fullmatch(path):
                sees = viewer.sees(match.groupdict().get("person", viewer.tenant_id))
                return await version(self.database, viewer, match.groupdict()) if sees else ""
        if path.startswith(("/console/people", "/console/deliveries")):
            return await self._about_people(path, viewer)
        if path == "/console/waiting":
            return await self.waiting(viewer)
        if path in ("/console", "/console/conversations"):
            return await self.everything() if viewer.operator else await self.person(viewer.tenant_id)
        return await self.health() if path == "/console/health" and viewer.operator else ""

    async def _about_people(self, path: str, viewer: Viewer) -> str:
        if match := _PERSON.fullmatch(path):
            return await self.profile(match[1]) if viewer.sees(match[1]) else ""
        match path:
            case "/console/deliveries":
                return await self.deliveries(viewer)
            case "/console/deliveries/stops":
                return await self.stops(viewer)
            case "/console/people" if viewer.operator:
                return await self.people()
        return ""

    async def turn(self, turn_id: str, viewer: Viewer) -> str:
        found = await self.database.call("select tenant_id, turn_id from find_trace($1)", turn_id)
        if found is None or not viewer.sees(found["tenant_id"]):
            return ""
        version = await self._of(
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
        if not version.startswith(TurnState.RUNNING.value):
            return version
        return f"{version}.{short_version(await self.doing(found['turn_id'] or ''))}"

    async def conversation(self, tenant_id: str, conversation: str) -> str:
        version = await self._of(
            tenant_id,
            "select c.in_seq || '.' || c.out_seq"
            " || coalesce((select string_agg(i.state || coalesce(i.outcome, ''), ',' order by i.seq) from inbound i"
            "  where i.tenant_id = $1 and i.conversation_id = $2 and i.seq > c.in_seq - 20), '')"
            " || coalesce((select string_agg(o.state, ',' order by o.seq) from outbound o"
            "  where o.tenant_id = $1 and o.conversation_id = $2 and o.seq > c.out_seq - 20), '')"
            " as version from conversations c where c.tenant_id = $1 and c.id = $2",
            conversation,
        )
        return short_version(version) if version else ""

    async def approval(self, tenant_id: str, approval: str) -> str:
        return await self._of(
            tenant_id,
            "select a.state || coalesce(a.expires_at::text, '') || (select count(*) from approval_audit u"
            "  where u.tenant_id = $1 and u.approval_id = $2) as version"
            " from approvals a where a.tenant_id = $1 and a.id = $2",
            approval,
        )

    async def waiting(self, viewer: Viewer) -> str:
        """Return the version of the first page of waiting entries."""
        if not viewer.operator:
            return await self._of(
                viewer.tenant_id,
                "select (select count(*) || coalesce(max(id), '') from approvals"
                "  where tenant_id = $1 and state = 'pending')"
                " || (select coalesce(string_agg(agent_id || status, ',' order by agent_id), '') from pool_entries"
                "  where tenant_id = $1 and status not in ('CANCELLED', 'COMPLETED')) as version",
            )
        rows = await self.database.rows("select id from console_waiting(null, '', $1)", SHOWN)
        return short_version("".join(row["id"] for row in rows))

    async def deliveries(self, viewer: Viewer) -> str:
        """Return the version of the first page of undelivered and waiting messages."""
        if viewer.operator:
            people = await self.database.rows("select * from find_held_people($1)", SHOWN)
            held = str([tuple(row) for row in people])
        else:
            held = await self._of(
                viewer.tenant_id,
                "select coalesce(string_agg(id || coalesce(not_before::text, ''), ',' order by id), '') as version"
                " from notifications where tenant_id = $1 and state = 'held'",
            )
        person = "" if viewer.operator else viewer.tenant_id
        rows = await self.database.rows("select * from find_unsettled($1, '', null, '', $2)", person, SHOWN)
        return short_version("".join(row["outbound_id"] + row["state"] for row in rows) + held)

    async def stops(self, viewer: Viewer) -> str:
        rows = await self.database.rows(
            "select id from list_consents($1, null, 1)", "" if viewer.operator else viewer.tenant_id
        )
        return str(rows[0]["id"]) if rows else ""

    async def people(self) -> str:
        """Return the version of the first page of people, and of strangers who wait for admission."""
        rows = await self.database.rows("select tenant_id from console_people(null, '', $1)", SHOWN)
        asking = await self.database.one(
            "select count(*) || coalesce(max(asked_at)::text, '') as version from pairings where used_at is null"
        )
        return short_version("".join(row["tenant_id"] for row in rows) + str(asking["version"]))

    async def profile(self, tenant_id: str) -> str:
        """Return the version of a person's page."""
        return short_version(
            await self._of(
                tenant_id,
                "select t.role || t.tier || t.name || coalesce((select string_agg(i.id || i.state || i.admitted, ','"
                "  order by i.id) from identities i where i.tenant_id = $1), '')"
                " || coalesce((select string_agg(k.expires_at || k.asked_channel || k.asked_user_key, ','"
                "  order by k.made_at) from link_codes k where k.tenant_id = $1 and k.used_at is null), '')"
                " || coalesce((select string_agg(c.service || c.account_name || coalesce(c.revoked_at::text, ''), ','"
                "  order by c.service, c.account_name) from credentials c where c.tenant_id = $1), '')"
                " || coalesce((select string_agg(s.number || s.state || s.used, ',' order by s.number)"
                "  from standing_consents s where s.tenant_id = $1), '')"
                " || coalesce((select string_agg(l.channel || l.until, ',') from find_asked_links($1, now()) l), '')"
                " || coalesce((select a.id from console_actions a where a.tenant_id = $1 order by a.at desc, a.id desc"
                "  limit 1), '') as version from tenants t where t.tenant_id = $1",
            )
        )

    async def person(self, tenant_id: str) -> str:
        return await self._of(
            tenant_id,
            "select max(last_inbound_at)::text || coalesce((select string_agg(t.id || t.state, ',' order by t.id)"
            "  from turns t where t.tenant_id = $1 and t.state in ('running', 'waiting')), '') as version"
            " from conversations where tenant_id = $1",
        )

    async def everything(self) -> str:
        row = await self.database.call("select last_at from console_conversations('', null, '', 1)")
        work = await self.database.one("select * from count_work()")
        return f"{row['last_at'].isoformat()}.{work['running_turns']}.{work['waiting_messages']}" if row else ""

    async def health(self) -> str:
        row = await self.database.one("select * from count_work()")
        return ".".join(str(value) for value in row.values())

    async def _of(self, tenant_id: str, statement: str, *args: object) -> str:
        return await read_version(self.database, tenant_id, statement, *args)


async def read_version(database: Database, tenant_id: str, statement: str, *args: object) -> str:
    """Return the `version` of a statement's row, read as a person; empty without a row."""
    row = await database.tenant_row(tenant_id, statement, *args)
    return str(row["version"] or "") if row else ""


@functools.cache
def _pattern(address: str) -> re.Pattern[str]:
    """Return the pattern of an address below `/console/`; its parts stand in braces, `{person}` for a person's id."""
    parts = _PART.sub(lambda part: f"(?P<{part[1]}>{_ID if part[1] == 'person' else _OTHER_ID})", address)
    return re.compile(f"/console/{parts}")


def short_version(text: str) -> str:
    """Return a version of fixed length for a long text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
