"""`python -m tests.page.killed_picture`: take the README's picture of a turn whose worker was killed."""

import asyncio
import signal
import sys
import tempfile
from pathlib import Path

from tests.forker import Forker
from tests.page.chromium import Browser, Page, open_page, running_browser
from tests.page.shown import ROOT
from tests.page.talk import ask, said
from tests.running_dev import running_dev

PICTURE = ROOT / "docs" / "page-killed.png"
SIZE = (1440, 1080)
"""High enough for the whole drawer, and for the turn's figures above it."""
LONG = 240.0


def main(path: Path = PICTURE) -> None:
    """Start everything, kill the worker in the middle of a turn, and keep what the page shows afterwards."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_browser() as browser,
        Forker() as forker,
        running_dev(forker, Path(folder) / "home", signal.SIGINT) as dev,
    ):
        asyncio.run(_take(browser, dev.simulator_url, path))


async def _take(browser: Browser, url: str, path: Path) -> None:
    async with open_page(browser) as page:
        await page.resize(SIZE)
        await page.goto(url)
        await page.click(".guide-close")
        await page.click("#open-breaking")
        await page.until("document.querySelector('.parts [data-state]')")  # until then the drawer still grows
        await page.click(".switch")
        await _press(page, "Model hangs")
        await ask(page, "slack", "What is 6 * 7?")
        await page.until("document.querySelector('.path .name')?.firstChild.data === 'Received'")
        await _press(page, "Kill the worker")
        await page.until("document.querySelector('.parts').innerText.includes('started again 1 time')", LONG)
        await _press(page, "Model is well again")
        await page.until(f"{said('slack')}.some((one) => one.includes('42'))", LONG)
        await page.until("document.querySelector('.path .figures').innerText.includes('Attempts')", LONG)
        await page.until("document.querySelector('.counts .waiting').dataset.count === '0'", LONG)
        await page.evaluate("document.querySelector('#breaking').scrollTop = 0")
        await page.screenshot(path)
        await page.leave()


async def _press(page: Page, button: str) -> None:
    await page.until("!document.querySelector('.breaks button').disabled", LONG)
    await page.click(".breaks button:enabled", button)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
