"""`python -m tests.page.console_pictures`: take the pictures of docs/console.md, from a `dev` that starts anew."""

import asyncio
import io
import signal
import sys
import tempfile
from pathlib import Path

from PIL import Image

from tests.forker import Forker
from tests.page.busy import FLIGHTS, be_busy
from tests.page.chromium import NARROW, Browser, Page, open_page, running_browser
from tests.page.looks import click_through
from tests.running_dev import running_dev

FOLDER = Path(__file__).parents[2] / "docs" / "console"
SIZE = (1200, 720)
COLOURS = 256
"""Of a picture, which is half the size by that."""


def main(folder: Path = FOLDER) -> None:
    """Start everything, let a person talk, and keep four pages."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        running_browser() as browser,
        Forker() as forker,
        running_dev(forker, Path(home) / "home", signal.SIGINT) as dev,
    ):
        asyncio.run(_take(browser, dev.simulator_url, f"{dev.url}/console", folder))


async def _take(browser: Browser, simulator: str, console: str, folder: Path) -> None:
    async with open_page(browser) as page:
        await be_busy(page, simulator)
        await page.resize(SIZE)
        await click_through(page, console, ("main a", "Slack"), ("a.bubble", FLIGHTS))
        await page.click(".kind-tool summary")
        await _keep(page, folder / "turn.png")
        await click_through(page, f"{console}/waiting", ("main a", "ruth@example.com"))
        await _keep(page, folder / "approval.png")
        await page.visit(f"{console}/tasks?view=calendar")
        await page.colours("dark")
        await _keep(page, folder / "tasks.png")
        await page.resize(NARROW)
        await page.visit(f"{console}/conversations")
        await _keep(page, folder / "phone.png")
        await page.leave()


async def _keep(page: Page, path: Path) -> None:
    await page.screenshot(path)
    await asyncio.to_thread(_shrink, path)


def _shrink(path: Path) -> None:
    picture = Image.open(io.BytesIO(path.read_bytes())).convert("RGB")
    picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
