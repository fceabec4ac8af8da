"""The routes under /bench, which the simulator serves beside its own: this machine only, like all of it."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import wraps

from aiohttp import web

from core.db.database import Database
from core.errors import RequestRefused, StoreUnavailable
from core.json_types import JsonObject
from onevalet.dev.bench.clock import BenchClock
from onevalet.dev.bench.paths import path_of
from onevalet.settings import Settings
from onevalet.wiring.connections import database_url

type Handler = Callable[[web.Request], Awaitable[JsonObject]]


@dataclass(frozen=True, slots=True)
class Bench:
    """What the page may ask of the assistant, and do to it."""

    database: Database
    clock: BenchClock

    def routes(self) -> list[web.AbstractRouteDef]:
        """Return the routes."""
        return [
            web.get("/bench/path", answered(self.path)),
            web.get("/bench/clock", answered(self.time)),
            web.post("/bench/clock", answered(self.move)),
        ]

    async def path(self, request: web.Request) -> JsonObject:
        """Return {"path": …}, null while there is none, of the bubble `about` of a `provider`."""
        return {"path": await path_of(self.database, request.query.get("provider", ""), request.query.get("about", ""))}

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


@asynccontextmanager
async def open_bench(settings: Settings) -> AsyncIterator[Bench]:
    """Yield the bench of a `dev`, with a clock of its home unless the settings name one."""
    database = Database(database_url(settings), size=2, name="onevalet bench")
    try:
        yield Bench(database, BenchClock(settings.onevalet_clock or settings.onevalet_home / "clock.json"))
    finally:
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
            return web.json_response({"error": "The database cannot be reached at the moment."}, status=503)

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
