"""The first minute of a newcomer: `dev` from nothing, the page, and the demo model's answer in each pane."""

import aiohttp
import pytest

from tests.page.chromium import NARROW, WIDE, Page
from tests.page.talk import FIELDS, ask, begin, said, talk_in_every_pane
from tests.running_dev import RunningDev

STICKING_OUT = (
    "[...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth).length"
)
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


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
async def test_a_person_edits_a_message_and_reads_a_correction(
    page: Page, dev: RunningDev, size: tuple[int, int]
) -> None:
    async with aiohttp.ClientSession() as http, http.get(dev.url) as answer:
        page_url = str(answer.url)
    await page.resize(size)
    try:
        await page.goto(page_url)
        await show(page, "telegram")
        await begin(page)
        for pane, old, new in (
            ("telegram", "What is 2 + 2?", "What is 2 + 3?"),
            ("slack", "What is 4 + 4?", "What is 4 + 5?"),
        ):
            await show(page, pane)
            await ask(page, pane, old)
            await page.until(f"{said(pane)}.at(-1)?.includes({old[8:13]!r})")
            await page.use(f".{pane} .mine", old, "Edit")
            await page.until(f"document.querySelector({FIELDS[pane]!r}).value === {old!r}")
            await page.evaluate(f"document.querySelector({FIELDS[pane]!r}).select()")
            await page.type(FIELDS[pane], new)
            await page.until(f"{said(pane)}.at(-1)?.includes('You changed “{old}” to “{new}”.')")
            await page.until(f"[...document.querySelectorAll('.{pane} .mine')].at(-1).innerText.includes('edited')")
        await page.use(".slack .mine", "What is 4 + 5?", "Delete")
        await page.until(f"!{mine('slack')}.includes('What is 4 + 5?')")
    finally:
        await page.resize(WIDE)
        await page.leave()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
async def test_a_thumb_approves_a_card_and_a_changed_message_voids_one(
    page: Page, dev: RunningDev, size: tuple[int, int]
) -> None:
    async with aiohttp.ClientSession() as http, http.get(dev.url) as answer:
        page_url = str(answer.url)
    await page.resize(size)
    words, other = "Email sam@example.com that I am late", "Email eve@example.com that I am late"
    try:
        await page.goto(page_url)
        await show(page, "telegram")
        await begin(page)
        for pane in ("telegram", "slack"):
            await show(page, pane)
            await ask(page, pane, words)
            await page.until(f"{said(pane)}.at(-1)?.includes('Recipient: sam@example.com')")
            await page.click(f".{pane} .theirs .bubble", "Recipient: sam@example.com")  # what is chosen keeps its tools
            await page.click(f".{pane} .theirs .tools [aria-label='Thumbs up']")
            await page.until(f"{said(pane)}.at(-1)?.includes('Sent to sam@example.com')")
            await page.until(f"{said(pane)}.some((one) => one.includes('Approved at'))")
            await ask(page, pane, f"{words} again")
            await page.until(f"{said(pane)}.at(-1)?.includes('Recipient: sam@example.com')")
            await page.use(f".{pane} .mine", f"{words} again", "Edit")
            await page.until(f"document.querySelector({FIELDS[pane]!r}).value === '{words} again'")
            await page.evaluate(f"document.querySelector({FIELDS[pane]!r}).select()")
            await page.type(FIELDS[pane], other)
            await page.until(f"{said(pane)}.some((one) => one.includes('Void since'))")
            await page.until(f"{said(pane)}.at(-1)?.includes('Recipient: eve@example.com')")
            assert await page.evaluate(STICKING_OUT) == 0
    finally:
        await page.resize(WIDE)
        await page.leave()


async def show(page: Page, pane: str) -> None:
    """On a narrow screen, choose the pane."""
    if not await page.evaluate(f"document.querySelector('.pane.{pane}').checkVisibility()"):
        await page.click(f"[data-tab={pane}]")


def mine(pane: str) -> str:
    return f"[...document.querySelectorAll('.{pane} .mine .said')].map((one) => one.innerText)"
