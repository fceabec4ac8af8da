"""What the page does to the assistant behind it, over a whole `dev`: follow a turn, move time."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forker import Forker
from tests.page.chromium import Page
from tests.page.looks import flaws
from tests.page.talk import ask, said
from tests.running_dev import RunningDev, running_dev

pytestmark = [pytest.mark.timeout(400, func_only=True), pytest.mark.xdist_group("own dev"), pytest.mark.slow]
NAMES = "[...document.querySelectorAll('.path .name')].map((one) => one.firstChild.data)"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Iterator[RunningDev]:
    """A `dev` whose time may be moved."""
    home: Path = tmp_path_factory.mktemp("bench") / "home"
    with running_dev(forker, home, signal.SIGINT) as dev:
        yield dev


async def test_a_turns_path_is_followed_live_and_each_bubble_has_its_own(page: Page, own: RunningDev) -> None:
    await page.goto(own.simulator_url)
    await page.until("document.querySelector('.wire [aria-selected=true]').innerText === 'Path'")
    await ask(page, "phone", "What is 6 * 7?")
    await page.until(f"{said('phone')}.some((one) => one.includes('42'))")
    for step in ("Received", "demo/valet: answers", "Handed to the provider", "Provider says: delivered"):
        await page.until(f"{NAMES}.includes({step!r})")
    await page.until("document.querySelector('.path .figures').innerText.includes('done')")
    first = await page.evaluate("document.querySelector('.turn-id code').innerText")
    await ask(page, "slack", "Email sam@example.com that I am late")
    await page.until(f"{NAMES}.includes('demo/valet: asks for tools')")
    await page.until(f"document.querySelector('.turn-id code').innerText !== {first!r}")
    await page.click(".phone .theirs .said", "42")
    await page.until(f"document.querySelector('.turn-id code').innerText === {first!r}")
    await page.click(".wire [role=tab]", "Wire")
    await page.until("document.querySelector('.exchange b').innerText.startsWith('twilio.')")
    await page.click(".wire [role=tab]", "Path")
    assert await flaws(page) == []
    await page.leave()


async def test_a_reminder_follows_the_clock_that_is_stopped_and_moved(page: Page, own: RunningDev) -> None:
    await page.goto(own.simulator_url)
    await page.click(".telegram .big", "START")
    await _turn_clock(page, "Stopped")
    await page.until("document.querySelector('.speed').innerText === 'stopped'")
    stopped = await page.evaluate("document.querySelector('#clock b').innerText")
    await ask(page, "telegram", "Remind me in 2 hours to water the plants")
    await page.until(f"{said('telegram')}.some((one) => one.startsWith('I will remind'))")
    assert await page.evaluate("document.querySelector('#clock b').innerText") == stopped
    before = await page.evaluate(f"{said('telegram')}.length")
    await _turn_clock(page, "+1 h")
    await _turn_clock(page, "+1 h")
    await page.until(f"{said('telegram')}.slice({before}).some((one) => one.includes('water the plants'))")
    await _turn_clock(page, "An hour a second")
    await page.until("document.querySelector('.speed').innerText === '×3600'")
    await _turn_clock(page, "Back to the real time")
    await page.until("!document.querySelector('#clock').classList.contains('is-moved')")
    await page.leave()


async def _turn_clock(page: Page, button: str) -> None:
    await page.evaluate("document.querySelector('#clock').open = true")
    await page.click("#clock button", button)
