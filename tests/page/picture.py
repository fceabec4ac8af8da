"""`python -m tests.page.picture`: take the README's picture of the page, from a `dev` that starts from nothing.

Beside it is kept what it was taken of, so that a test notices when the page or the talk has changed since.
"""

import asyncio
import signal
import sys
import tempfile
from pathlib import Path

from tests.forker import Forker
from tests.page.chromium import Browser, Page, open_page, running_browser
from tests.page.shown import PICTURE, RECORD, record
from tests.page.talk import ask, said
from tests.running_dev import running_dev

SIZE = (1440, 1000)
EMAIL = "Email sam@example.com that I am ten minutes late"
FLIGHTS = "Find flights from Berlin to Rome on Friday and email the results to sam@example.com"
REMINDER = "Remind me at 18:30 to call Grace"


def main(path: Path = PICTURE) -> None:
    """Start everything, let a person talk, and keep what the page shows."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_browser() as browser,
        Forker() as forker,
        running_dev(forker, Path(folder) / "home", signal.SIGINT) as dev,
    ):
        asyncio.run(_take(browser, dev.simulator_url, path))
    if path == PICTURE:
        RECORD.write_text(record())


async def _take(browser: Browser, url: str, path: Path) -> None:
    async with open_page(browser) as page:
        await page.resize(SIZE)
        await page.goto(url)
        await page.click(".telegram .big", "START")
        await _answered(page, "telegram", "Hello!")
        await ask(page, "telegram", REMINDER)
        await _answered(page, "telegram", "18:30")
        await ask(page, "telegram", "What have I got scheduled?")
        await _answered(page, "telegram", "Scheduled")
        await ask(page, "slack", FLIGHTS)
        await _answered(page, "slack", "to approve")
        await page.click(".slack button.element", "Approve")
        await _answered(page, "slack", "Sent to sam@example.com")
        await ask(page, "phone", "What are my notes?")
        await _answered(page, "phone", "notes")
        await ask(page, "phone", EMAIL)
        await _answered(page, "phone", "to approve")
        ticks = "[...document.querySelectorAll('.phone .theirs .tick')]"
        await page.until(f"{ticks}.every((one) => one.innerText.includes('delivered'))")
        await page.until("!document.querySelector('.toast')?.checkVisibility()")
        await page.screenshot(path)
        await page.leave()


async def _answered(page: Page, pane: str, words: str) -> None:
    """Wait until the assistant has said something in a pane, and is not writing any more."""
    await page.until(f"{said(pane)}.some((one) => one.includes({words!r})) && !document.querySelector('.is-draft')")


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
