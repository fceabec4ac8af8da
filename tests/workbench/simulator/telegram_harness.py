"""A served Telegram simulator with python-telegram-bot's own Bot, for its tests."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer
from telegram import Bot
from telegram.request import HTTPXRequest

from tests.workbench.simulator.conftest import MovableClock
from workbench.simulator.app import Simulator
from workbench.simulator.base import Wire
from workbench.simulator.config import SimulatorConfig
from workbench.simulator.journal import Json
from workbench.simulator.telegram import TelegramSimulator

TOKEN = SimulatorConfig().telegram.bot_token
ADA = 700100001
GRACE = 700100002


@dataclass(slots=True)
class Hook:
    """A gateway's webhook: record updates, and answer with the next of `answers`, or 200.

    With `wait_for`, it answers once that is set.
    """

    url: str = ""
    updates: list[dict[str, Any]] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    answers: list[web.Response] = field(default_factory=list)
    wait_for: asyncio.Event | None = None

    async def handle(self, request: web.Request) -> web.Response:
        """Record one update."""
        self.updates.append(json.loads(await request.read()))
        self.secrets.append(request.headers.get("X-Telegram-Bot-Api-Secret-Token", ""))
        if self.wait_for:
            await self.wait_for.wait()
        return self.answers.pop(0) if self.answers else web.Response()


@dataclass(slots=True)
class Harness:
    """The simulator, a bot on it, and a webhook to set."""

    url: str
    wire: Wire
    clock: MovableClock
    telegram: TelegramSimulator
    bot: Bot
    hook: Hook
    http: aiohttp.ClientSession

    async def act(self, action: str, person: str = "ada", **arguments: Json) -> dict[str, Any]:
        """Let a person act."""
        done = await self.telegram.act(person, action, arguments)
        assert isinstance(done, dict)
        return done

    async def call(self, method: str, token: str = TOKEN, **values: Json) -> dict[str, Any]:
        """Call a method as JSON, and check that HTTP status and body agree."""
        url = f"{self.url}/telegram/bot{token}/{method}"
        async with self.http.post(url, json=values) as answer:
            body: dict[str, Any] = await answer.json()
        assert answer.status == (200 if body["ok"] else body["error_code"])
        return body

    def chat(self, person: str = "ada") -> dict[str, Any]:
        """Return what the page draws of a person's chat."""
        state: Any = self.telegram.state()
        shown: dict[str, Any] = state["people"][person]
        return shown


@asynccontextmanager
async def open_harness(config: SimulatorConfig | None = None) -> AsyncIterator[Harness]:
    """Serve the simulator and the webhook for the block."""
    hook = Hook()
    gateway = web.Application()
    gateway.router.add_post("/webhooks/telegram", hook.handle)
    gateway_server = TestServer(gateway)
    await gateway_server.start_server()
    hook.url = str(gateway_server.make_url("/webhooks/telegram"))
    clock = MovableClock()
    wire = Wire(config or SimulatorConfig(pace=0.01), clock)
    telegram = TelegramSimulator(wire)
    server = TestServer(Simulator(wire, [telegram]).app)
    await wire.open()
    await server.start_server()
    url = str(server.make_url("")).rstrip("/")
    bot = Bot(
        TOKEN,
        base_url=f"{url}/telegram/bot",
        base_file_url=f"{url}/telegram/file/bot",
        request=HTTPXRequest(connection_pool_size=8),
        get_updates_request=HTTPXRequest(connection_pool_size=8),
    )
    try:
        async with aiohttp.ClientSession() as http, bot:
            yield Harness(url, wire, clock, telegram, bot, hook, http)
    finally:
        await telegram.stop()
        wire.stopping.set()
        await server.close()
        await wire.close()
        await gateway_server.close()
