"""`POST /events/{source}`: events from outside, proven, parsed, committed, and only then acknowledged."""

import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog
from aiohttp import web

from channels.bad_requests import BadRequests
from channels.event_bodies import read_event
from channels.event_proofs import bearer_of, check_proof
from core.errors import RequestRefused
from core.events.source_types import EventSource
from core.events.sources import EventSources
from core.events.types import Event

PATH = "/events/{source}"
REMEMBERED_SECONDS = 10.0
"""How long a source is remembered: so long a deleted one may still be let in."""
MOST_REMEMBERED = 2000

_SOURCE = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
_log = structlog.get_logger()


class Publisher(Protocol):
    """What keeps events: the event bus."""

    async def publish(self, event: Event, also: str = "") -> bool:
        """Commit an event; False when it is known."""
        ...


@dataclass(slots=True)
class _Remembered:
    source: EventSource | None
    until: float


class EventRoutes:
    """Take in events. `now` is the machine's own time in Unix seconds, by which signatures age."""

    def __init__(self, sources: EventSources, bus: Publisher, *, now: Callable[[], float] = time.time) -> None:
        self._sources = sources
        self._bus = bus
        self._now = now
        self._known: OrderedDict[tuple[str, str], _Remembered] = OrderedDict()
        self._counts: dict[int, BadRequests] = {}

    def routes(self) -> Sequence[web.RouteDef]:
        """Give the route."""
        return [web.post(PATH, self._take)]

    async def _take(self, request: web.Request) -> web.Response:
        name = request.match_info["source"]
        if not _SOURCE.fullmatch(name):
            raise RequestRefused("no such source", status=404)
        body, now = await request.read(), self._now()
        source = await self._find(name, bearer_of(request.headers))
        if source is None:
            raise RequestRefused("no such source", status=404)
        check_proof(source, request.headers, body, now)
        self._count(source)
        event, also = read_event(source, request.headers, request.content_type, body, now)
        fresh = await self._bus.publish(event, also)
        _log.info("event_received", source=source.id, event_id=event.id, duplicate=not fresh)
        return web.json_response({"id": event.id, "duplicate": not fresh})

    async def _find(self, name: str, bearer: str) -> EventSource | None:
        """Find a source, asking the database about each name once in a while only, whoever asks how often."""
        # An id needs no secret to be found; of a name the secret says whose it is.
        key = (name, "" if name.startswith("src_") else bearer)
        known = self._known.get(key)
        if known is None or known.until < time.monotonic():
            source = await self._sources.find(*key)
            known = self._known[key] = _Remembered(source, time.monotonic() + REMEMBERED_SECONDS)
            self._known.move_to_end(key)
            if len(self._known) > MOST_REMEMBERED:
                self._known.popitem(last=False)
        return known.source

    def _count(self, source: EventSource) -> None:
        a_minute = source.options.a_minute
        if self._counts.setdefault(a_minute, BadRequests(a_minute)).count(source.id):
            raise RequestRefused("too many events", status=429)
