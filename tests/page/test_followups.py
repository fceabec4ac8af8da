"""A follow-up that a digest proposes on the page of dev: its buttons, and what a press leads to, at both widths."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.page.chromium import NARROW, WIDE, Page
from tests.page.talk import said
from tests.page.test_dev_page import STICKING_OUT
from workbench.scenarios.catalogue import SHIPPED
from workbench.scenarios.opening import open_stage
from workbench.scenarios.playing import play_on
from workbench.scenarios.scenario import read_scenario

pytestmark = [pytest.mark.timeout(600, func_only=True), pytest.mark.xdist_group("own dev"), pytest.mark.slow]
PICTURES = os.environ.get("ONEVALET_PICTURES", "")
"""A folder for a picture of each view; empty for none."""
SCENARIO = read_scenario(SHIPPED / "follow-up.scenario.toml")
BUTTONS = ["Yes, ask me", "No, thanks", "No more of these"]
LABELS = "[...document.querySelectorAll('.{pane} .theirs button')].map((one) => one.innerText)"


@pytest.mark.parametrize(
    ("pane", "size", "label", "answer"),
    [
        ("telegram", WIDE, "Yes, ask me", "I will ask you on"),
        ("slack", NARROW, "No, thanks", "I will not ask"),
    ],
    ids=["telegram-wide", "slack-narrow"],
)
async def test_a_proposal_has_buttons_on_the_page_and_a_press_decides(
    page: Page, database_url: str, redis_url: str, pane: str, size: tuple[int, int], label: str, answer: str
) -> None:
    pressed = [step.verb for step in SCENARIO.steps].index("press")
    talk = replace(SCENARIO, channel=pane, steps=SCENARIO.steps[:pressed])
    await page.resize(size)
    try:
        async with open_stage(talk, {"database_url": database_url, "redis_url": redis_url}) as stage:
            await play_on(stage, talk)
            await page.goto(stage.simulator.url)
            if not await page.evaluate(f"document.querySelector('.pane.{pane}').checkVisibility()"):
                await page.click(f"[data-tab={pane}]")
            await page.until(f"{said(pane)}.at(-1)?.includes('Shall I ask you on')")
            shown = await page.evaluate(LABELS.format(pane=pane))
            assert [one for one in shown if one in BUTTONS] == BUTTONS
            await page.click(f".{pane} .theirs button", label)
            await page.until(f"{said(pane)}.at(-1)?.includes({answer!r})")
            assert await page.evaluate("innerWidth") == size[0]
            assert await page.evaluate(STICKING_OUT) == 0
            if PICTURES:
                await page.screenshot(Path(PICTURES) / f"follow-up-{pane}-{size[0]}.png")
            await page.leave()
        # A scenario's stage has no demo model and lists no scenarios: Chromium calls each 503 an error.
        page.problems[:] = [problem for problem in page.problems if "/bench/" not in problem]
    finally:
        await page.resize(WIDE)
