"""A page in a browser, with the simulator and a scripted gateway behind it."""

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.page.gateway import ScriptedGateway
from workbench.simulator.app import Simulator
from workbench.simulator.config import SimulatorConfig

if TYPE_CHECKING:
    from tests.page.chromium import Browser, Page


@pytest.fixture
def gateway() -> ScriptedGateway:
    """The scripted gateway."""
    return ScriptedGateway()


@pytest.fixture
async def simulator(gateway: ScriptedGateway, page: "Page") -> AsyncIterator[Simulator]:
    """A served simulator whose gateway is the scripted one."""
    async with gateway.running(SimulatorConfig(pace=0.05)) as simulator:
        yield simulator
        await page.leave()


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """A browser for all tests of this process; Playwright is there only where slow tests run."""
    from tests.page.chromium import running_browser

    with running_browser() as browser:
        yield browser


@pytest.fixture
async def page(browser: "Browser") -> AsyncIterator["Page"]:
    """A fresh tab; at the end nothing may have gone wrong in it."""
    from tests.page.chromium import open_page

    async with open_page(browser) as page:
        yield page
    assert page.problems == []
