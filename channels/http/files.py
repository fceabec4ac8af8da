"""`GET /files/{token}`: a person's file, for anyone with its link, until the link expires or the file is deleted."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

import structlog
from aiohttp import web

from channels.http.connections import proven
from core.clock import Clock
from core.errors import RequestRefused, StoreUnavailable
from core.files.content_types import UNKNOWN
from core.files.links import PATH, FileLinks
from core.files.store import FileStore
from core.files.types import StoredFile

AT_ONCE = 4
"""Files that a process sends at once: each lies in memory for that time."""
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
        self._at_once = asyncio.Semaphore(AT_ONCE)

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
        async with self._at_once:
            body = await self._read(linked.tenant_id, linked.file_id)
            response = web.Response(body=body, headers=headers)
            await response.prepare(request)
            await response.write_eof()
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
