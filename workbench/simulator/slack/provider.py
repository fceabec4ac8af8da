"""The provider for the frame: Slack's routes, its state, and people's acts in it."""

from collections.abc import Awaitable, Callable, Iterable

from aiohttp import web

from workbench.simulator.base import BadAction, OpenedFile, Wire
from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.keeping import Drawer
from workbench.simulator.slack import files, response_urls
from workbench.simulator.slack.acts import ACTS
from workbench.simulator.slack.api import Api
from workbench.simulator.slack.deliver import Deliverer
from workbench.simulator.slack.errors import fault_answer
from workbench.simulator.slack.kept import FORM, bring_back, keep
from workbench.simulator.slack.method import Hub
from workbench.simulator.slack.shown import shown
from workbench.simulator.slack.sockets import Sockets
from workbench.simulator.slack.state import World

type Served = Callable[[Hub, web.Request], Awaitable[web.StreamResponse]]


class SlackSimulator:
    """A team with an app, as strict as Slack. Fault rules name `slack.<method>`, `slack.response_url`."""

    name = "slack"

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.sockets = Sockets(wire)
        self._api = Api(wire)
        self.hub = self._fresh(None)

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            *self._api.routes(),
            *self.sockets.routes(),
            self._route("POST", "/slack/response/{token}", "slack.response_url", response_urls.respond),
            self._route("POST", "/slack/upload/{file}", "slack.upload", files.receive),
            self._route("GET", "/slack/files/{file}", "slack.files", files.hand_out),
            self._route("GET", "/slack/files/{file}/download", "slack.files", files.hand_out),
        ]

    async def stop(self) -> None:
        await self.sockets.close()

    @property
    def delivers(self) -> bool:
        return self._wire.is_busy("slack:event:")

    def join(self, person: Person) -> None:
        self.hub.world.join(person)

    async def reset(self) -> None:
        await self._wire.cancel_spawned("slack:")
        self.sockets.freeze(False)
        self.hub = self._fresh(self.hub.world)

    def save(self, drawer: Drawer) -> bytes:
        return FORM.write(keep(self.hub.world), drawer)

    def load(self, kept: bytes, drawer: Drawer) -> None:
        bring_back(self.hub.world, FORM.read(kept, drawer))

    def resume(self) -> None:
        self.hub.deliverer.resume()

    def state(self) -> Json:
        return shown(self.hub.world, self.sockets.count) | {"socket_mode": self.sockets.on}

    async def act(self, person_key: str, action: str, arguments: dict[str, Json]) -> Json:
        person = self._wire.config.person(person_key)
        run = ACTS.get(action)
        if person is None or run is None:
            raise BadAction(f"Nobody can {action} in Slack; there are {', '.join(ACTS)}.")
        result: Json = await run(self.hub, person, arguments)
        self._wire.journal.touch()
        return result

    def file(self, file_id: str) -> OpenedFile | None:
        return self.hub.world.contents.get(file_id)

    def _fresh(self, before: World | None) -> Hub:
        world = World(self._wire.config, self._wire.now, before)
        hub = Hub(world, Deliverer(self._wire, world, self.sockets), lambda: self._wire.url)
        self._api.hub = hub
        return hub

    def _route(self, verb: str, path: str, label: str, served: Served) -> web.AbstractRouteDef:
        async def handle(request: web.Request) -> web.StreamResponse:
            return await served(self.hub, request)

        return web.route(verb, path, self._wire.endpoint(label, fault_answer)(handle))
