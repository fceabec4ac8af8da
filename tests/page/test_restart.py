"""A newcomer sets a model and starts again, or presses Reset: every chat is there, and answers."""

import signal
from pathlib import Path

import pytest

from tests.forker import Forker
from tests.page.chromium import Page
from tests.page.talk import FIELDS, ask, said, talk_in_every_pane
from tests.running_dev import running_dev

pytestmark = [pytest.mark.timeout(400, func_only=True), pytest.mark.xdist_group("own dev"), pytest.mark.slow]
QUESTION = "What can you do?"


async def test_all_three_chats_answer_after_reset_and_after_a_restart(
    page: Page, tmp_path: Path, forker: Forker
) -> None:
    home = tmp_path / "home"
    with running_dev(forker, home, signal.SIGINT) as dev:
        await talk_in_every_pane(page, dev.simulator_url, QUESTION, "demo")
        await page.click("#reset")  # and yes, they mean it
        await page.until("!document.querySelector('.phone .bubble')")
        await talk_in_every_pane(page, dev.simulator_url, QUESTION, "demo")
        await page.leave()
    # What is reset after a restart is seen by `tests/page/test_guide.py`.
    with running_dev(forker, home, signal.SIGINT) as dev:
        await page.goto(dev.simulator_url)
        for pane in FIELDS:
            await page.until(f"{said(pane)}.some((one) => one.toLowerCase().includes('demo'))")
        await _answered_once_more(page)
        await page.leave()


async def _answered_once_more(page: Page) -> None:
    for pane in FIELDS:
        await ask(page, pane, "What is 6 * 7?")
    for pane in FIELDS:
        await page.until(f"{said(pane)}.some((one) => one.includes('42'))")
