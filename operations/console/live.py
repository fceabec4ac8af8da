"""Live updates of open pages: each second, a page is read again and its version compared."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from aiohttp import web

from channels.http.deadlines import stops_within
from core.errors import RequestRefused, StoreUnavailable
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

type Look = Callable[[], Awaitable[str]]
"""Returns the present version of an open page; empty if it has none, or is not the viewer's to see."""
type Doing = Callable[[str], Awaitable[str]]
"""Returns a phrase for a running turn's current work; empty if unknown."""


async def nothing_told(turn_id: str) -> str:
    """Report no work of any turn."""
    return ""


def version_of(*shown: object) -> str:
    """Return a short text that changes with a page's contents: rows, and values made of them, in order."""
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]


@dataclass(slots=True)
class LivePages:
    """Report changes to pages."""

    _open: list[tuple[str, web.Request]] = field(default_factory=list, init=False)
    """The updated pages, each with its person."""

    async def stream(self, request: web.Request, viewer: Viewer, look: Look) -> web.StreamResponse:
        """Answer with events until the page is closed."""
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
                await self._tell(request, response, look)
        finally:
            self._open = [one for one in self._open if one[1] is not request]
        return response

    async def _tell(self, request: web.Request, response: web.StreamResponse, look: Look) -> None:
        known = request.query.get("version", "")
        loop = asyncio.get_running_loop()
        end, quiet = loop.time() + LASTS, 0
        while loop.time() < end:
            try:
                version = await look()
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
