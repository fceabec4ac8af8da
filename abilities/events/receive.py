"""`POST /events/{source}`: events from outside, proven, parsed, committed, and only then acknowledged."""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog
from aiohttp import web

from abilities.events.bus import EventBus
from abilities.events.parse import read_event
from abilities.events.source_index import SourceIndex
from abilities.events.source_types import EventSource
from abilities.events.sources import EventSources
from abilities.events.types import SourceGone
from abilities.events.verify import bearer_of, check_proof
from channels.http.connections import proven, proves_in_its_handler
from channels.http.penalties import BadRequests
from core.errors import RequestRefused
from core.ids import PARTITION

PATH = "/events/{source}"
REMEMBERED_SECONDS = 10.0
"""How long a source is remembered, with the secret that proves its requests."""
MAX_REMEMBERED = 2000

_SOURCE = re.compile(rf"{PARTITION}[a-z0-9][a-z0-9_-]{{0,79}}")
_log = structlog.get_logger()


@dataclass(slots=True)
class _Remembered:
    source: asyncio.Future[EventSource | None]
    until: float


class EventRoutes:
    """Accept events. `now` is the machine's own time in Unix seconds, by which signatures age."""

    def __init__(
        self,
        sources: EventSources,
        bus: EventBus,
        *,
        now: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sources = sources
        self._bus = bus
        self._now = now
        self._monotonic = monotonic
        self._index = SourceIndex(sources, now=monotonic)
        self._known: OrderedDict[str, _Remembered] = OrderedDict()
        self._counts: dict[int, BadRequests] = {}

    def routes(self) -> Sequence[web.RouteDef]:
        return [proven(web.post(PATH, self._take), proves_in_its_handler)]

    async def _take(self, request: web.Request) -> web.Response:
        name = request.match_info["source"]
        if not _SOURCE.fullmatch(name):
            raise RequestRefused("no such source", status=404)
        body, now = await request.read(), self._now()
        for _ in range(2):
            source = await self._find(name, bearer_of(request.headers))
            if source is None:
                break
            check_proof(source, request.headers, body, now)
            self._count(source)
            event, also = read_event(source, request.headers, request.content_type, body, now)
            try:
                fresh = await self._bus.publish(event, also, source_id=source.id)
            except SourceGone:
                self._known.pop(source.id, None)  # two people have been merged since, for example: look again
                continue
            _log.info("event_received", source=source.id, event_id=event.id, duplicate=not fresh)
            return web.json_response({"id": event.id, "duplicate": not fresh})
        raise RequestRefused("no such source", status=404)

    async def _find(self, name: str, bearer: str) -> EventSource | None:
        """Find a source by its id, or by its name if the bearer's secret tells the owner."""
        source = await self._match(name, self._index.look(name, bearer))
        if source is None and await self._index.read():
            source = await self._match(name, self._index.look(name, bearer))
        return source

    async def _match(self, name: str, ids: Sequence[str]) -> EventSource | None:
        renamed = None
        for id in ids:
            source = await self._load(id)
            if source is None:
                self._index.forget(id)
            elif name in (source.id, source.name):
                return source
            elif name in source.former_names:
                renamed = source
        return renamed

    async def _load(self, id: str) -> EventSource | None:
        """Read a source, once every few seconds, and once for all requests that arrive at the same moment."""
        known = self._known.get(id)
        if known is None or known.until < self._monotonic():
            loading = asyncio.ensure_future(self._sources.find(id))
            known = self._known[id] = _Remembered(loading, self._monotonic() + REMEMBERED_SECONDS)
            self._known.move_to_end(id)
            if len(self._known) > MAX_REMEMBERED:
                self._known.popitem(last=False)
        try:
            return await asyncio.shield(known.source)
        except Exception:
            if self._known.get(id) is known:
                del self._known[id]
            raise

    def _count(self, source: EventSource) -> None:
        a_minute = source.options.a_minute
        if self._counts.setdefault(a_minute, BadRequests(a_minute)).count(source.id):
            raise RequestRefused("too many events", status=429)
