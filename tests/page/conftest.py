"""A page in a browser, with the simulator and a scripted gateway behind it."""

from collections.abc import AsyncIterator, Iterator

import pytest

from simulator.app import Simulator
from simulator.config import SimulatorConfig
from tests.page.chromium import Browser, Page, open_page, running_browser
from tests.page.gateway import ScriptedGateway


@pytest.fixture
def gateway() -> ScriptedGateway:
    """The scripted gateway."""
    return ScriptedGateway()


@pytest.fixture
async def simulator(gateway: ScriptedGateway, page: Page) -> AsyncIterator[Simulator]:
    """A served simulator whose gateway is the scripted one."""
    async with gateway.running(SimulatorConfig(pace=0.05)) as simulator:
        yield simulator
        await page.leave()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser for all tests of this process."""
    with running_browser() as browser:
        yield browser


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A fresh tab; at the end nothing may have gone wrong in it."""
    async with open_page(browser) as page:
        yield page
    assert page.problems == []
