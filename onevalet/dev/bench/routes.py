"""The routes under /bench, which the simulator serves beside its own: this machine only, like all of it."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from aiohttp import web

from core.db.database import Database
from core.errors import RequestRefused, StoreUnavailable
from core.json_types import JsonObject
from onevalet.demo.trouble import FILE, Trouble, set_trouble
from onevalet.dev.bench.breaking import Breaking
from onevalet.dev.bench.clock import BenchClock
from onevalet.dev.bench.paths import path_of
from onevalet.dev.bench.people import Address, who_is
from onevalet.dev.bench.tally import tally
from onevalet.dev.embedded.server import EmbeddedServer
from onevalet.settings import Settings
from onevalet.wiring.connections import database_url, redis_url

AWAY = "The database cannot be reached at the moment."

type Handler = Callable[[web.Request], Awaitable[JsonObject]]


@dataclass(slots=True)
class Bench:
    """What the page may ask of the assistant, and do to it."""

    database: Database
    clock: BenchClock
    breaking: Breaking
    states: Callable[[], Mapping[str, Any]] = dict
    """What the providers know, by their names."""
    addresses: Mapping[str, Sequence[Address]] = field(default_factory=dict)
    """Where each simulated person writes from."""

    def routes(self) -> list[web.AbstractRouteDef]:
        """Return the routes."""
        return [
            web.get("/bench/path", answered(self.path)),
            web.get("/bench/clock", answered(self.time)),
            web.post("/bench/clock", answered(self.move)),
            web.get("/bench/person", answered(self.person)),
            web.get("/bench/breaking", answered(self.broken)),
            web.post("/bench/breaking", answered(self.break_it)),
        ]

    async def path(self, request: web.Request) -> JsonObject:
        """Return {"path": …}, null while there is none, of the bubble `about` of a `provider`."""
        provider, about = request.query.get("provider", ""), request.query.get("about", "")
        try:
            return {"path": await path_of(self.database, provider, about)}
        except StoreUnavailable:
            return {"path": None, "error": AWAY}

    async def time(self, _: web.Request) -> JsonObject:
        return self.clock.shown()

    async def move(self, request: web.Request) -> JsonObject:
        """Move time: {"rate"}, {"seconds"}, {"to"} or {"real": true}; return the clock."""
        wanted = await _object(request)
        match wanted:
            case {"real": True}:
                self.clock.real()
            case {"rate": rate}:
                self.clock.run(rate)
            case {"seconds": seconds}:
                self.clock.jump(seconds=seconds)
            case {"to": to}:
                self.clock.jump(to=to)
            case _:
                raise RequestRefused('Say "rate", "seconds", "to", or "real".')
        return self.clock.shown()

    async def person(self, request: web.Request) -> JsonObject:
        """Return what the assistant knows of the simulated person `key`."""
        addresses = self.addresses.get(request.query.get("key", ""))
        if addresses is None:
            raise RequestRefused("There is nobody of that name.")
        return await who_is(self.database, addresses, self.clock.told().now())

    async def broken(self, _: web.Request) -> JsonObject:
        """Return what stands, and what was lost and doubled: null while the database is away."""
        try:
            counts: JsonObject | None = await tally(self.database, self.states())
        except StoreUnavailable:
            counts = None
        return {**self.breaking.shown(), "counts": counts}

    async def break_it(self, request: web.Request) -> JsonObject:
        """Break: {"processes": true}, {"kill"}, {"stop"}, {"flush"}, {"model"}; return what stands."""
        await self.breaking.do(await _object(request))
        return self.breaking.shown()


@asynccontextmanager
async def open_bench(settings: Settings, servers: Sequence[EmbeddedServer]) -> AsyncIterator[Bench]:
    """Yield the bench of a `dev`, with a clock of its home unless the settings name one."""
    database = Database(database_url(settings), size=2, name="onevalet bench")
    trouble = None if settings.onevalet_model else settings.onevalet_home / FILE
    if trouble:
        set_trouble(trouble, Trouble.NONE)  # what was asked for ends with the `dev` that it was asked of
    clock = BenchClock(settings.onevalet_clock or settings.onevalet_home / "clock.json")
    try:
        yield Bench(database, clock, Breaking(servers, redis_url(settings), trouble))
    finally:
        if trouble:
            set_trouble(trouble, Trouble.NONE)
        await database.close()


def answered(handler: Handler) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """Answer in JSON: with what the handler returns, or with an "error" that is one sentence."""

    @wraps(handler)
    async def run(request: web.Request) -> web.StreamResponse:
        try:
            return web.json_response(await handler(request))
        except RequestRefused as refusal:
            return web.json_response({"error": refusal.reason}, status=refusal.status)
        except StoreUnavailable:
            return web.json_response({"error": AWAY}, status=503)

    return run


async def _object(request: web.Request) -> JsonObject:
    # A form or text/plain post needs no consent of the browser; JSON does.
    if request.content_type != "application/json":
        raise RequestRefused("The body must be JSON, sent as application/json.")
    try:
        values = json.loads(await request.read())
    except ValueError:
        raise RequestRefused("The body is not JSON.") from None
    if not isinstance(values, dict):
        raise RequestRefused("The body must be a JSON object.")
    return values
