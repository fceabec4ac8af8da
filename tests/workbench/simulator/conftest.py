"""A served simulator and a small stand-in for the gateway, for the tests of every provider."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from twilio.http.async_http_client import AsyncTwilioHttpClient
from twilio.rest import Client

from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig, SystemClock, TwilioConfig

PUBLIC_URL = "https://valet.example.com"
SERVICE = "MG" + "a" * 32
EMPTY_SERVICE = "MG" + "b" * 32
TWILIO = TwilioConfig(numbers=("+14155550199",), services=((SERVICE, ("+14155550177",)), (EMPTY_SERVICE, ())))


class MovableClock(SystemClock):
    """The machine's time plus an offset; it sleeps as the machine does, and keeps how long it was to."""

    def __init__(self) -> None:
        self.offset = 0.0
        self.slept: list[timedelta] = []

    def now(self) -> datetime:
        """Return the moment."""
        return super().now() + timedelta(seconds=self.offset)

    async def sleep(self, span: timedelta) -> None:
        """Wait."""
        self.slept.append(span)
        await super().sleep(span)


@dataclass(frozen=True, slots=True)
class Heard:
    """One request that the gateway got; `form` is filled for form bodies."""

    method: str
    path: str
    url: str
    headers: dict[str, str]
    body: bytes
    form: dict[str, str]


type Respond = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class FakeGateway:
    """Record every request; answer with `respond`, an empty 200 unless a test replaces it."""

    heard: list[Heard] = field(default_factory=list)
    respond: Respond | None = None
    url: str = ""

    def at(self, path: str) -> list[Heard]:
        """List what came to a path."""
        return [request for request in self.heard if request.path == path]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Record, then answer."""
        body = await request.read()
        form = {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
        self.heard.append(Heard(request.method, request.path, request.path_qs, dict(request.headers), body, form))
        return await self.respond(request) if self.respond else web.Response()


@pytest.fixture
async def gateway() -> AsyncIterator[FakeGateway]:
    """A gateway that hears everything."""
    fake = FakeGateway()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", fake.handle)
    server = TestServer(app)
    await server.start_server()
    fake.url = str(server.make_url("")).rstrip("/")
    yield fake
    await server.close()


@pytest.fixture
def simulator_config() -> SimulatorConfig:
    """The simulator's settings; a test module may override this fixture."""
    return SimulatorConfig(public_url=PUBLIC_URL, pace=0.01, patience=0.1, twilio=TWILIO)


@pytest.fixture
async def simulator(simulator_config: SimulatorConfig, gateway: FakeGateway) -> AsyncIterator[Simulator]:
    """A served simulator that calls the fake gateway and signs over PUBLIC_URL."""
    config = replace(simulator_config, gateway_url=gateway.url)
    async with serve_simulator(config, SystemClock()) as served:
        yield served


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    """A plain HTTP client."""
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
async def twilio_client(simulator: Simulator) -> AsyncIterator[Client]:
    """Twilio's official library, pointed at the simulator."""
    http_client = AsyncTwilioHttpClient(timeout=5)
    client = Client(TWILIO.account_sid, TWILIO.auth_token, http_client=http_client)
    client.api.base_url = client.messaging.base_url = simulator.twilio_url
    yield client
    await http_client.close()
