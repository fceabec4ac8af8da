"""`GET /files/{token}`: a person's file, for anyone with its link, until the link expires or the file is deleted."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from urllib.parse import quote

import structlog
from aiohttp import web

from channels.http.connections import proven
from channels.http.readers import Taking, leave
from core.clock import Clock
from core.errors import RequestRefused, StoreUnavailable
from core.files.content_types import UNKNOWN
from core.files.links import PATH, FileLinks, LinkedFile
from core.files.store import FileStore
from core.files.types import StoredFile
from core.http.peer import Slots

AT_ONCE, OF_A_PERSON = 6, 2
"""Files that a process sends at once, each of which lies in memory for that time, and of those a single person's."""
WAITING = 20
"""Requests for a person's files that are answered or wait for that: a message has up to ten files."""
_SHOWN_TYPE = re.compile(r"(image|audio|video)/[a-z0-9.+-]{1,60}|text/(csv|vcard|calendar)|application/pdf")
"""Content types that a file may be declared as; any other file, such as HTML, is sent as plain bytes."""
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_log = structlog.get_logger()


class FileRoutes:
    """Hand out files by their links. Without `links` there are none, and so no file."""

    def __init__(self, store: FileStore, links: FileLinks | None, clock: Clock) -> None:
        self._store = store
        self._links = links
        self._clock = clock
        self._slots = Slots(AT_ONCE, OF_A_PERSON)
        self._asked = Counter[str]()

    def routes(self) -> Sequence[web.RouteDef]:
        return [proven(web.get(f"{PATH}{{token}}", self._hand_out), self._shown)]

    def _shown(self, request: web.Request) -> str | None:
        token = request.match_info["token"]
        return f"file {token}" if self._links and self._links.read(token, self._clock.now()) else None

    async def _hand_out(self, request: web.Request) -> web.StreamResponse:
        now = self._clock.now()
        linked = (
            self._links.read(request.match_info["token"], now) if self._links and not request.query_string else None
        )
        if linked is None:
            raise _nothing()
        file = await self._store.find(linked.tenant_id, linked.file_id)
        if file is None:
            raise _nothing()
        headers = _headers(file)
        if request.method == "HEAD":
            return web.Response(headers={**headers, "Content-Length": str(file.kept_size)})
        if self._asked[linked.tenant_id] >= WAITING:
            raise RequestRefused("too many files of one person at once", status=429)
        self._asked[linked.tenant_id] += 1
        try:
            async with self._slots.of(linked.tenant_id):
                return await self._send(request, linked, headers)
        finally:
            self._asked[linked.tenant_id] -= 1
            if not self._asked[linked.tenant_id]:
                del self._asked[linked.tenant_id]

    async def _send(self, request: web.Request, linked: LinkedFile, headers: Mapping[str, str]) -> web.Response:
        body = await self._read(linked.tenant_id, linked.file_id)
        response = web.Response(body=body, headers=headers)
        try:
            async with Taking().of(len(body)):
                await response.prepare(request)
                await response.write_eof()
        except TimeoutError:
            _log.info("file_taken_too_slowly", file=linked.file_id)
            leave(request)
        return response

    async def _read(self, tenant_id: str, file_id: str) -> bytes:
        try:
            body = await self._store.bytes_of(tenant_id, file_id)
        except OSError as error:
            _log.error("file_store_unreachable", cause=type(error).__name__)
            raise StoreUnavailable("the files cannot be reached") from error
        if body is None:
            raise _nothing()
        return body


def _nothing() -> RequestRefused:
    """Return the same answer to a wrong or expired link and to a deleted file, so that it reveals none of these."""
    return RequestRefused("no such file", status=404)


def _headers(file: StoredFile) -> Mapping[str, str]:
    kind = file.content_type if _SHOWN_TYPE.fullmatch(file.content_type) and "svg" not in file.content_type else UNKNOWN
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", file.name).strip("_")[-60:] or "file"
    named = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(file.name or plain, safe='')}"
    return {**_HEADERS, "Content-Type": kind, "Content-Disposition": named}
