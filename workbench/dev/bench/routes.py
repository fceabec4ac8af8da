"""The routes under /bench, which the simulator serves beside its own: this machine only, like all of it."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from aiohttp import web

from core.db.database import Database
from core.errors import RequestRefused, StoreUnavailable
from core.json_types import JsonObject
from onevalet.servers.server import EmbeddedServer
from onevalet.settings import Settings
from onevalet.wiring.connections import database_url, redis_url
from workbench.demo.trouble import FILE, Trouble, set_trouble
from workbench.dev.bench.answers import AWAY, answered, object_of
from workbench.dev.bench.breaking import Breaking, words_of
from workbench.dev.bench.clock import BenchClock
from workbench.dev.bench.model import ModelField
from workbench.dev.bench.paths import path_of
from workbench.dev.bench.people import Address, let_in, who_is
from workbench.dev.bench.socket_mode import SocketMode
from workbench.dev.bench.tally import tally
from workbench.dev.model.choice import KeptModel
from workbench.dev.model.chooser import ModelChooser
from workbench.dev.processes.assistant import Assistant


class Recording(Protocol):
    """A listener for moved time, breaks, and admitted people."""

    def note_clock(self) -> None: ...

    def note_break(self, what: str) -> None: ...

    async def look_for_admitted(self) -> None: ...


@dataclass(slots=True)
class Bench:
    """The page's queries about the assistant, and its actions on it."""

    database: Database
    clock: BenchClock
    breaking: Breaking
    states: Callable[[], Mapping[str, Any]] = dict
    """The providers' states, by name."""
    addresses: Callable[[str], Sequence[Address]] = lambda _: ()
    """The addresses of the simulated person with a key."""
    model: ModelField = field(default_factory=ModelField)
    recorder: Recording | None = None
    socket_mode: SocketMode = field(default_factory=SocketMode)

    def routes(self) -> list[web.AbstractRouteDef]:
        """Return the routes."""
        return [
            web.get("/bench/path", answered(self.path)),
            web.get("/bench/clock", answered(self.time)),
            web.post("/bench/clock", answered(self.move)),
            web.get("/bench/person", answered(self.person)),
            web.post("/bench/pair", answered(self.pair)),
            web.get("/bench/breaking", answered(self.broken)),
            web.post("/bench/breaking", answered(self.break_it)),
            *self.model.routes(),
            *self.socket_mode.routes(),
        ]

    def offer_models(self, kept: KeptModel, assistant: Assistant, told: Callable[[Settings], None]) -> None:
        """Offer the page a choice of model for the running assistant; `told` gets the settings of each new choice."""

        def changed(settings: Settings) -> None:
            self.breaking.meet(settings)
            told(settings)

        self.model.chooser = ModelChooser(kept.baseline, kept.choice, assistant, changed, fixed=kept.is_fixed)

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
        wanted = await object_of(request)
        if self.recorder:
            self.recorder.note_clock()  # earlier messages were read before
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
        if self.recorder:
            self.recorder.note_clock()
        return self.clock.shown()

    async def person(self, request: web.Request) -> JsonObject:
        """Return the assistant's data of the simulated person `key`."""
        addresses = self.addresses(request.query.get("key", ""))
        if not addresses:
            raise RequestRefused("There is nobody of that name.")
        return await who_is(self.database, addresses, self.clock.told().now())

    async def pair(self, request: web.Request) -> JsonObject:
        """Admit a person as the operator does: {"code", "role"}; return them."""
        told = await let_in(self.database, await object_of(request), self.clock.told().now())
        if self.recorder:
            await self.recorder.look_for_admitted()  # before they write again
        return told

    async def broken(self, _: web.Request) -> JsonObject:
        """Return the status of each part, and the counts of lost and doubled messages: null if the database is away."""
        try:
            counts: JsonObject | None = await tally(self.database, self.states())
        except StoreUnavailable:
            counts = None
        return {**self.breaking.shown(), "counts": counts}

    async def break_it(self, request: web.Request) -> JsonObject:
        """Break: {"processes": true}, {"kill"}, {"stop"}, {"flush"}, {"model"}; return the status of each part."""
        wanted = await object_of(request)
        await self.breaking.do(wanted)
        if self.recorder and (what := words_of(wanted)):
            self.recorder.note_break(what)
        return self.breaking.shown()


@asynccontextmanager
async def open_bench(settings: Settings, servers: Sequence[EmbeddedServer]) -> AsyncIterator[Bench]:
    """Yield the bench of a `dev`, with a clock in its home unless the settings name a clock."""
    database = Database(database_url(settings), size=2, name="onevalet bench")
    trouble = settings.onevalet_home / FILE
    set_trouble(trouble, Trouble.NONE)  # a trouble ends with the `dev` in which it was requested
    clock = BenchClock(settings.onevalet_clock or settings.onevalet_home / "clock.json")
    breaking = Breaking(servers, redis_url(settings), trouble, is_demo=not settings.onevalet_model)
    try:
        yield Bench(database, clock, breaking)
    finally:
        set_trouble(trouble, Trouble.NONE)
        await database.close()
