"""Telegram as a provider of the simulator."""

from collections.abc import Iterable

from aiohttp import web

from workbench.simulator.base import BadAction, OpenedFile, Wire
from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.keeping import Drawer
from workbench.simulator.telegram.acts import Acts
from workbench.simulator.telegram.api import ENDPOINTS, Api, endpoint_name
from workbench.simulator.telegram.errors import Refusal, fault_answer, refused
from workbench.simulator.telegram.kept import FORM, bring_back, keep
from workbench.simulator.telegram.polling import Polling
from workbench.simulator.telegram.state import World
from workbench.simulator.telegram.view import show
from workbench.simulator.telegram.webhooks import Webhooks


class TelegramSimulator:
    """An emulated bot with its people. The Bot API is under /telegram, as TELEGRAM_API_URL names it."""

    name = "telegram"

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._begin(None)

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        # A reset replaces the API, so that each request looks for the present API.
        call = self._wire.endpoint(endpoint_name, fault_answer, ENDPOINTS)(lambda request: self._api.call(request))
        download = self._wire.endpoint("telegram.file", fault_answer)(lambda request: self._api.download(request))
        return [
            web.get("/telegram/bot{token:[^/]+}/{method}", call),
            web.post("/telegram/bot{token:[^/]+}/{method}", call),
            web.get("/telegram/file/bot{token:[^/]+}/{path:.+}", download),
            web.route("*", "/telegram/{path:.*}", self._wire.endpoint("telegram.unknown", fault_answer)(_nowhere)),
        ]

    async def stop(self) -> None:
        await self._webhooks.close()

    @property
    def delivers(self) -> bool:
        return bool(self._world.updates.pending())

    def join(self, person: Person) -> None:
        """A chat begins when its person presses START."""

    async def reset(self) -> None:
        await self._webhooks.close()
        self._polling.release()
        self._begin(self._world)
        self._webhooks.resume()

    @property
    def is_polled(self) -> bool:
        """Return whether the bot waits for updates now."""
        return self._polling.is_polled

    def state(self) -> Json:
        return show(self._world, self._webhooks.get_webhook_info(), has_rival=self._polling.has_rival)

    async def act(self, person_key: str, action: str, arguments: dict[str, Json]) -> Json:
        person = self._wire.config.person(person_key)
        if person is None:
            raise BadAction(f"There is nobody called {person_key}.")
        return self._acts.act(person, action, arguments)

    def file(self, file_id: str) -> OpenedFile | None:
        file = self._world.files.get(file_id)
        return OpenedFile(file.name, file.content_type, file.data) if file else None

    def save(self, drawer: Drawer) -> bytes:
        return FORM.write(keep(self._world), drawer)

    def load(self, kept: bytes, drawer: Drawer) -> None:
        bring_back(self._world, FORM.read(kept, drawer))

    def resume(self) -> None:
        self._webhooks.resume()

    def _begin(self, before: World | None) -> None:
        self._world = World(self._wire.config, self._wire.now, before)
        self._polling = Polling(self._wire, self._world)
        self._webhooks = Webhooks(self._wire, self._world, self._polling)
        self._acts = Acts(self._wire, self._world, self._polling)
        self._api = Api(self._wire, self._world, self._polling, self._webhooks)


async def _nowhere(_: web.Request) -> web.StreamResponse:
    # Server source, `HttpConnection::handle`: any path that is not /bot<token>/<method>.
    return refused(Refusal(404, "Not Found"))
