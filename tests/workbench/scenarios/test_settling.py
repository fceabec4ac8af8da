"""A recording waits for what a provider has yet to deliver, and not only for what the installation has to do."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.clock import Clock
from core.db.database import Database
from tests.core.harness import opened
from tests.eventually import eventually
from tests.patience import patience
from workbench.scenarios.settling import done, settle
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig, SystemClock


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
    provider: str,
    held: tuple[Simulator, asyncio.Event, asyncio.Event],
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulator, asked, let = held
    monkeypatch.setattr("workbench.scenarios.settling.WITHIN", patience())
    await simulator.providers[provider].act("ada", "say", {"text": "Hello?"})
    await asked.wait()
    database = Database(database_url, size=1, name="settling")
    try:
        looks = count_looks(monkeypatch)
        settling = asyncio.create_task(settle(database, simulator))
        await eventually(lambda: len(looks) >= 3, "looks of one that waits")
        assert not settling.done()
        let.set()
        await settling
        assert not simulator.delivers
    finally:
        await database.close()


def count_looks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list that grows with what each look at the simulator finds."""
    looks: list[bool] = []
    delivers = vars(Simulator)["delivers"]

    def look(simulator: Simulator) -> bool:
        looks.append(delivers.__get__(simulator))
        return looks[-1]

    monkeypatch.setattr(Simulator, "delivers", property(look))
    return looks


async def test_due_work_is_waited_for_until_it_is_done_or_time_is_up(database_url: str) -> None:
    async with opened(database_url) as store:
        clock = Clock()
        assert await done(store.database, clock, "memory", patience(5))
        await store.say("Hello")
        await store.admin.execute(
            "insert into memory_jobs (tenant_id, id, lease_until)"
            " select tenant_id, 'job', clock_timestamp() + interval '15 seconds' from tenants"
        )
        assert not await done(store.database, clock, "memory", 0.2), "it is under way"
        waiting = asyncio.create_task(done(store.database, clock, "memory", patience(5)))
        await store.admin.execute("delete from memory_jobs")
        assert await waiting
