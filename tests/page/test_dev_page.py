"""The first minute of a newcomer: `dev` from nothing, the page, and the demo model's answer in each pane."""

import aiohttp
import pytest

from tests.page.chromium import Page
from tests.page.talk import talk_in_every_pane
from tests.running_dev import RunningDev

pytestmark = [pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev"), pytest.mark.slow]


async def test_dev_shows_three_panes_in_which_the_demo_model_answers(page: Page, dev: RunningDev) -> None:
    # The gateway's front page leads to the simulator's.
    async with aiohttp.ClientSession() as http, http.get(dev.url) as answer:
        assert answer.status == 200
        page_url = str(answer.url)
    try:
        await talk_in_every_pane(page, page_url, "What can you do?", "demo")
        await page.until("document.querySelector('#open-console').checkVisibility()")
        await page.visit(await page.evaluate("document.querySelector('#open-console').href"))
        await page.until("document.body.innerText.includes('What can you do?')")
    finally:
        await page.leave()
