"""The simulator as an aiohttp application: the emulated providers, the control API, and the page."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

from aiohttp import web

from workbench.simulator.base import Handler, Provider, Wire
from workbench.simulator.config import Clock, Person, SimulatorConfig
from workbench.simulator.control import Control, loopback_only
from workbench.simulator.first_hour import steps_page
from workbench.simulator.keeping import Keepable, Keeper
from workbench.simulator.mail import MailSimulator
from workbench.simulator.people import Roster
from workbench.simulator.plain_page import plain_page
from workbench.simulator.slack import SlackSimulator
from workbench.simulator.telegram import TelegramSimulator
from workbench.simulator.twilio import TwilioSimulator

_PAGE = Path(__file__).parent / "page"
_SHARED = Path(__file__).parents[2] / "channels" / "http" / "pages" / "static"
"""Styles that this page shares with the product's pages: colours and type, and how the path of a turn is drawn."""
_COMMANDS = Path(__file__).parents[2] / "docs" / "commands.md"
_MAX_BODY = 60 * 1024 * 1024
_PAGE_HEADERS = {
    # Only sources served from here, and no markup made of strings: a message that gets in cannot run.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class Simulator:
    """The simulator: `wire` to set the gateway's address, `providers` by name, `mail` among them, `app` to serve."""

    def __init__(self, wire: Wire, providers: Sequence[Provider]) -> None:
        self.wire = wire
        self.mail = MailSimulator(wire)
        providers = [*providers, self.mail]
        self.providers = {provider.name: provider for provider in providers}
        self.roster = Roster(wire, self._join)
        # Whom the chats are with, before the chats.
        kept: list[Keepable] = [self.roster, *providers]
        self.keeper = Keeper(wire.config.kept_in, kept, wire.journal) if wire.config.kept_in else None
        self._opened = asyncio.Event()
        self._opened.set()
        self.app = web.Application(
            middlewares=[_answer_browsers, loopback_only, self._await_opening], client_max_size=_MAX_BODY
        )
        for provider in providers:
            self.app.router.add_routes(provider.routes())
        self.control = Control(wire, providers, self.roster)
        self.app.router.add_routes(self.control.routes())
        self.app.router.add_get("/", self._page)
        self.app.router.add_get("/page/commands.md", self._commands)
        self.app.router.add_get("/page/first-hour", self._first_hour)
        for name in ("tokens.css", "path.css"):
            self.app.router.add_get(f"/page/{name}", _file(_SHARED / name))
        if _PAGE.is_dir():
            self.app.router.add_static("/page/", _PAGE)
        self.app.on_response_prepare.append(_protect_page)
        self.app.on_shutdown.append(self._release)

    @property
    def url(self) -> str:
        return self.wire.url

    @property
    def twilio_url(self) -> str:
        return f"{self.wire.url}/twilio"

    @property
    def slack_url(self) -> str:
        return f"{self.wire.url}/slack/api/"

    @property
    def telegram_url(self) -> str:
        return f"{self.wire.url}/telegram"

    @property
    def delivers(self) -> bool:
        """Return whether something that people did is on its way to the gateway still, a repeat of it included."""
        return bool(self.control.acting) or any(provider.delivers for provider in self.providers.values())

    def close(self) -> None:
        self._opened.clear()

    def open(self) -> None:
        """Open to people, and continue interrupted deliveries: the gateway accepts requests by now."""
        for provider in self.providers.values():
            provider.resume()
        self._opened.set()

    def _join(self, person: Person) -> None:
        for provider in self.providers.values():
            provider.join(person)

    async def stop(self) -> None:
        self.wire.stopping.set()
        for provider in self.providers.values():
            await provider.stop()
        await self.wire.close()

    @web.middleware
    async def _await_opening(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path == "/" or request.path.startswith(("/page/", "/sim/")):
            await self._opened.wait()
        return await handler(request)

    async def _page(self, _: web.Request) -> web.StreamResponse:
        index = _PAGE / "index.html"
        if await asyncio.to_thread(index.is_file):
            return web.FileResponse(index)
        return web.Response(text="The simulator is running; it has no page yet. Its control API is under /sim.")

    async def _commands(self, _: web.Request) -> web.StreamResponse:
        # An image is built without the documents; the page then names their place.
        if not await asyncio.to_thread(_COMMANDS.is_file):
            raise web.HTTPNotFound
        return web.FileResponse(_COMMANDS, headers={"Content-Type": "text/markdown; charset=utf-8"})

    async def _first_hour(self, _: web.Request) -> web.StreamResponse:
        return web.Response(text=await asyncio.to_thread(steps_page), content_type="text/html", charset="utf-8")

    async def _release(self, _: web.Application) -> None:
        # Streams and long polls wait for an event: this is the last event.
        self._opened.set()
        self.wire.stopping.set()
        self.wire.journal.touch()


def build_simulator(config: SimulatorConfig, clock: Clock, bench: Iterable[web.AbstractRouteDef] = ()) -> Simulator:
    """Build the simulator with each provider that it emulates. `bench`: routes to the assistant behind it."""
    wire = Wire(config, clock)
    providers: list[Provider] = [TwilioSimulator(wire), SlackSimulator(wire), TelegramSimulator(wire)]
    simulator = Simulator(wire, providers)
    simulator.control.has_bench = bool(simulator.app.router.add_routes(bench))
    return simulator


@asynccontextmanager
async def serve_simulator(
    config: SimulatorConfig,
    clock: Clock,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    closed: bool = False,
    bench: Iterable[web.AbstractRouteDef] = (),
) -> AsyncIterator[Simulator]:
    """Serve the simulator on a loopback address until left; port 0 takes a free port. `closed`: until `open`."""
    simulator = build_simulator(config, clock, bench)
    if simulator.keeper:
        await asyncio.to_thread(simulator.keeper.load)
    if closed:
        simulator.close()
    listener = await asyncio.to_thread(_listen, host, port)
    shown = f"[{host}]" if ":" in host else host
    simulator.wire.url = f"http://{shown}:{listener.getsockname()[1]}"
    runner = web.AppRunner(simulator.app, access_log=None, shutdown_timeout=2.0)
    try:
        await simulator.wire.open()
        await simulator.mail.start()
        await runner.setup()
        await web.SockSite(runner, listener).start()
        async with simulator.keeper.running() if simulator.keeper else nullcontext():
            yield simulator
    finally:
        await runner.cleanup()
        await simulator.stop()
        listener.close()


def _file(path: Path) -> Handler:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.FileResponse(path)

    return answer


@web.middleware
async def _answer_browsers(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Lead a browser back from an address at which there is no page; a program is answered as before."""
    try:
        return await handler(request)
    except (web.HTTPNotFound, web.HTTPMethodNotAllowed) as error:
        if "text/html" not in request.headers.get("Accept", ""):
            raise
        text = plain_page("There is no page at this address.")
        return web.Response(status=error.status, text=text, content_type="text/html", headers=_PAGE_HEADERS)


async def _protect_page(request: web.Request, answer: web.StreamResponse) -> None:
    if request.path == "/" or request.path.startswith("/page/"):
        answer.headers.update(_PAGE_HEADERS)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=256)
    listener.setblocking(False)
    return listener
