"""A recording waits for what a provider has yet to deliver, and not only for what the installation has to do."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.db.database import Database
from onevalet.testing.settling import settle
from simulator.app import Simulator, serve_simulator
from simulator.config import SimulatorConfig, SystemClock


@pytest.fixture
async def held() -> AsyncIterator[tuple[Simulator, asyncio.Event, asyncio.Event]]:
    """A simulator whose gateway has been asked, and answers when it is let."""
    asked, let = asyncio.Event(), asyncio.Event()

    async def answer(_: web.Request) -> web.Response:
        asked.set()
        await let.wait()
        return web.Response()

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as gateway, serve_simulator(SimulatorConfig(), SystemClock()) as simulator:
        simulator.wire.connect_gateway(str(gateway.make_url("/")))
        yield simulator, asked, let
        let.set()


@pytest.mark.parametrize("provider", ["twilio", "slack"])
async def test_what_is_on_its_way_to_the_gateway_is_waited_for(
    provider: str, held: tuple[Simulator, asyncio.Event, asyncio.Event], database_url: str
) -> None:
    simulator, asked, let = held
    await simulator.providers[provider].act("ada", "say", {"text": "Hello?"})
    await asyncio.wait_for(asked.wait(), 20)
    database = Database(database_url, size=1, name="settling")
    try:
        settling = asyncio.create_task(settle(database, simulator))
        done, _ = await asyncio.wait([settling], timeout=1)
        assert not done
        let.set()
        await asyncio.wait_for(settling, 20)
        assert not simulator.delivers
    finally:
        await database.close()
