"""Socket Mode, switched on the page: Slack is answered over a socket, and by its webhook again."""

import signal
from pathlib import Path

import aiohttp
import pytest

from tests.forker import Forker
from tests.page.chromium import Page
from tests.page.looks import flaws
from tests.page.talk import ask, said
from tests.running_dev import RunningDev, running_dev

pytestmark = [pytest.mark.timeout(400, func_only=True), pytest.mark.xdist_group("own dev"), pytest.mark.slow]
LONG = 120.0
"""Seconds in which a busy machine starts the assistant again."""


async def test_slack_is_answered_over_a_socket_and_by_its_webhook_again(
    page: Page, tmp_path: Path, forker: Forker
) -> None:
    with running_dev(forker, tmp_path / "home", signal.SIGINT) as dev:
        await page.goto(dev.simulator_url)
        ways = ((15, "slack.socket.events_api", "over a socket"), (16, "slack.message", "by its webhook"))
        for product, way, told in ways:
            await page.click(".slack .menu summary")
            assert await flaws(page) == []
            await page.until("document.querySelector('.slack .menu .switch').offsetHeight < 30")  # on one line
            await page.click(".slack .menu .switch")
            toasts = "[...document.querySelectorAll('.toast')]"
            await page.until(f"{toasts}.some((one) => one.innerText.includes('{told} now'))", LONG)
            await page.until("!document.querySelector('[name=socket-mode]').disabled")
            if way == "slack.socket.events_api":
                await page.until("document.querySelector('.slack .sockets').innerText.includes('socket')", LONG)
            await ask(page, "slack", f"What is {product} * 7?")
            await page.until(f"{said('slack')}.some((one) => one.includes('{product * 7}'))", LONG)
            assert way in await _ways(dev)
        await page.leave()


async def _ways(dev: RunningDev) -> list[str]:
    async with aiohttp.ClientSession() as http, http.get(f"{dev.simulator_url}/sim/journal?last=40") as answer:
        return [call["endpoint"] for call in await answer.json() if call["direction"] == "in"]
