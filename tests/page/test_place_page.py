"""The page that asks a phone where it is, and the simulator's live places, in headless Chromium."""

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import cast

import pytest

from abilities.places.links import PlaceLinks
from abilities.places.page import open_routes
from channels.http.app import build_app, serve
from core.clock import Clock
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.queue.wakeups import NoWakeups
from onevalet.foundations import WebFoundation
from tests.core.credentials.conftest import admin as admin
from tests.core.credentials.conftest import database as database
from tests.core.credentials.conftest import key as key
from tests.core.credentials.conftest import store as store
from tests.page.chromium import NARROW, WIDE, Page
from tests.ports import free_port
from workbench.simulator.app import Simulator

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev")]

STICKING_OUT = (
    "[...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth).length"
)
TOLD = """
const coords = { latitude: 52.520008, longitude: 13.404954, accuracy: 12 };
const getCurrentPosition = (tell, fail) => window.denied ? fail({ code: 1 }) : tell({ coords });
Object.defineProperty(navigator, 'geolocation', { value: { getCurrentPosition } });
"""
TOOL = "[...document.querySelectorAll('.telegram .tools button')].find((one) => one.innerText === '{}').click()"


@pytest.fixture
async def links(database: Database, store: CredentialStore) -> AsyncIterator[PlaceLinks]:
    """Yield the links of a served page."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    settings, clock = SimpleNamespace(public_url=url), Clock()
    web = SimpleNamespace(settings=settings, database=database, credentials=store, clock=clock, wakeups=NoWakeups())
    routes = open_routes(cast(WebFoundation, web))
    async with serve(build_app([], ready=database.ready, extra_routes=routes), "127.0.0.1", port):
        yield PlaceLinks(database, url, store.keys)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
async def test_the_page_asks_when_its_button_is_pressed(
    page: Page, links: PlaceLinks, database: Database, size: tuple[int, int]
) -> None:
    await page.resize(size)
    await page.prepare(TOLD)
    url = await links.make("ann", None, Clock().now())
    assert url is not None
    await page.visit(url)
    assert await page.evaluate(STICKING_OUT) == 0
    await page.evaluate("window.denied = true")
    await page.click("button", "Tell where I am")
    await page.until("!document.querySelector('#problem').hidden")
    assert "Allow it for this page" in await page.evaluate("document.querySelector('#problem').innerText")
    assert await page.evaluate(STICKING_OUT) == 0
    await page.evaluate("window.denied = false")
    await page.click("button", "Tell where I am")
    await page.until("document.querySelector('.good')")
    assert await page.evaluate("document.querySelector('.good').innerText") == "Your assistant knows where you are."
    row = await database.tenant_row("ann", "select latitude, accuracy from seen_places where tenant_id = $1")
    assert row is not None
    assert (row["latitude"], row["accuracy"]) == (52.520008, 12.0)
    await page.leave()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
async def test_the_simulators_page_shares_a_place_and_moves_it(
    page: Page, simulator: Simulator, size: tuple[int, int]
) -> None:
    await page.resize(size)
    await page.goto(simulator.url)
    if size == NARROW:
        await page.click("[role=tab]", "Telegram")
    await page.click(".telegram .big", "START")
    await page.click(".telegram summary[aria-label='Send a location']")
    await page.click(".telegram .place .tick")
    assert await page.evaluate(STICKING_OUT) == 0
    await page.click(".telegram .place button", "Send the location")
    await page.until("document.querySelector('.telegram .file')?.innerText.includes('Live location')")
    await page.evaluate(TOOL.format("Move"))
    await page.until("document.querySelector('.telegram .place .primary').innerText === 'Move the location'")
    await page.evaluate("document.querySelector('.telegram .place [name=latitude]').value = 52.5")
    await page.click(".telegram .place button", "Move the location")
    await page.until("document.querySelector('.telegram .file').innerText.includes('52.5,')")
    await page.evaluate(TOOL.format("Stop sharing"))
    await page.until("!document.querySelector('.telegram .file').innerText.includes('Live')")
