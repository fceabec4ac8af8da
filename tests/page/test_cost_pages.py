"""The pages of long answers and of spared calls in Chromium, at both widths, light and dark."""

import os
from pathlib import Path

import pytest

from tests.abilities.cost.test_console import hold
from tests.abilities.cost.test_spared import priced, spare
from tests.core.harness import opened
from tests.operations.console.harness import ANN, BOB, open_console
from tests.page.chromium import NARROW, WIDE, Page
from tests.page.looks import SCHEMES, flaws, shown

pytestmark = [pytest.mark.timeout(600, func_only=True), pytest.mark.xdist_group("dev"), pytest.mark.slow]
PICTURES = os.environ.get("ONEVALET_PICTURES", "")
"""A folder for pictures of each view; empty for none."""

ENTRIES = """
[...document.querySelectorAll('.bar nav a, .bar summary')].filter((one) => one.checkVisibility())
.map((one) => {
    const { left, top, height } = one.getBoundingClientRect();
    return [one.innerText, top, document.elementFromPoint(left + 9, top + height / 2)?.closest('a, summary') === one];
})"""
"""The menu's visible entries: name, top, and whether they can be clicked."""


async def test_long_answers_and_spared_calls_can_be_read_by_everybody(page: Page, database_url: str) -> None:
    async with opened(database_url) as store, open_console(store, local=True) as console:
        pages = {"spared/answers": "No answer was held back yet", "spared": "Nothing was spared yet"}
        for name, empty in pages.items():
            await page.visit(f"{console.url}/console/{name}")
            assert empty in await shown(page)
            assert await flaws(page) == []
        await hold(console, ANN, 17, "")
        await hold(console, BOB, 23, "lapsed")
        await spare(console, BOB, "memory", 3)
        await spare(console, BOB, "embeddings", 1)
        await priced(console, BOB, "memory", 10, "0.5")
        for name, said in {"spared/answers": "nobody chose: sent shortened", "spared": "about $0.1500"}.items():
            await page.visit(f"{console.url}/console/{name}")
            assert said in await shown(page)
            assert await flaws(page) == []
            for size in (NARROW, WIDE) if PICTURES else ():
                await page.resize(size)
                for scheme in SCHEMES:
                    await page.colours(scheme)
                    await page.screenshot(Path(PICTURES) / f"{name.replace('/', '-')}-{size[0]}-{scheme}.png")


async def test_the_menu_is_whole_and_its_further_entries_open_and_close(page: Page, database_url: str) -> None:
    async with opened(database_url) as store, open_console(store, local=True) as console:
        for size, lines in ((WIDE, 1), ((1024, 768), 2), (NARROW, 2)):
            await page.resize(size)
            await page.visit(f"{console.url}/console/spared")
            shown = await page.evaluate(ENTRIES)
            assert len({round(top) for _, top, _ in shown}) <= lines, size
            assert [name for name, _, is_reached in shown if not is_reached] == [], size
            await page.click(".bar summary", "Spared")
            await page.until("document.querySelector('.bar [aria-current]')?.checkVisibility()")
            more = await page.evaluate(ENTRIES)
            assert len(more) > len(shown)
            assert [name for name, _, is_reached in more if not is_reached] == [], size
            if PICTURES:
                await page.screenshot(Path(PICTURES) / f"menu-{size[0]}.png")
            await page.press("Escape")
            await page.until("!document.querySelector('#further').open")
            await page.click(".bar summary", "Spared")
            assert await flaws(page) == []
            await page.click("h1")
            await page.until("!document.querySelector('#further').open")
