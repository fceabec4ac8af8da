"""A newcomer's guided minute: ask by SMS, approve from Slack, be reminded on Telegram by the moved clock."""

import signal
from pathlib import Path

import pytest

from tests.forker import Forker
from tests.page.chromium import NARROW, Page
from tests.page.guided import follow_guide
from tests.page.looks import flaws
from tests.page.talk import said
from tests.running_dev import running_dev

pytestmark = [pytest.mark.timeout(400, func_only=True), pytest.mark.xdist_group("own dev"), pytest.mark.slow]


async def test_the_guide_leads_through_its_steps_and_is_kept_over_a_restart(
    page: Page, tmp_path: Path, forker: Forker
) -> None:
    home = tmp_path / "home"
    with running_dev(forker, home, signal.SIGINT) as dev:
        await page.goto(dev.simulator_url)
        assert await flaws(page) == []
        await page.click(".slack .prompts-here button", "What can you do?")
        await page.until(f"{said('slack')}.some((one) => one.includes('demo'))")
        await follow_guide(page, dev.simulator_url)
        assert await flaws(page) == []
        await _leave_it_and_come_back(page, dev.simulator_url)
        await _play_it_on_a_phone(page, dev.simulator_url)
        await page.leave()
    with running_dev(forker, home, signal.SIGINT) as dev:
        await page.goto(dev.simulator_url)
        await page.until("document.querySelectorAll('.guide-steps [data-state=done]').length === 4")
        await _reset(page)
        await follow_guide(page, dev.simulator_url)
        await page.leave()


async def _leave_it_and_come_back(page: Page, url: str) -> None:
    """Close the guide, which stays away until it is asked for."""
    await page.click(".guide-close")
    await page.goto(url)
    await page.until("document.querySelector('.phone .bubble')")
    assert await page.evaluate("document.querySelector('#guide').hidden")
    await page.click("#open-help")
    await page.click("#guide-again button")
    await page.until("document.querySelector('#guide').checkVisibility()")


async def _reset(page: Page) -> None:
    await page.evaluate(
        "fetch('/sim/reset', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'})"
    )
    await page.until("document.querySelectorAll('.guide-steps [data-state=done]').length === 0")


async def _play_it_on_a_phone(page: Page, url: str) -> None:
    await _reset(page)
    await page.resize(NARROW)
    await follow_guide(page, url)
    assert await page.evaluate("document.querySelector('.pane.telegram').checkVisibility()")
    assert await page.evaluate("document.querySelector('.pane.telegram').getBoundingClientRect().top") < 100
    await page.click("#open-guide")
    assert not await page.evaluate("document.querySelector('#guide').checkVisibility()")
    await page.click("#open-guide")
    assert await page.evaluate("document.querySelector('#guide').checkVisibility()")
