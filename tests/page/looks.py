"""What every page is held to at both widths, light and dark: nothing sticks out, and everybody can use it."""

import json
from importlib.resources import files

from tests.page.chromium import NARROW, WIDE, Page, Scheme

SCHEMES: tuple[Scheme, ...] = ("light", "dark")
_AXE = files("axe_playwright_python").joinpath("axe.min.js")
_RUN = """axe.run({ preload: false, resultTypes: ['violations'] }).then((found) => found.violations
    .filter((one) => ['serious', 'critical'].includes(one.impact))
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).slice(0, 3).join(' | ')}`))"""
_STICKING_OUT = """[...document.querySelectorAll('body *')]
    .filter((one) => one.checkVisibility() && !one.closest('.hidden, .skip, nav, pre, .scroll')
        && one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.outerHTML.slice(0, 120))"""
_TOO_SMALL = """[...document.querySelectorAll('svg text')]
    .filter((one) => one.checkVisibility() && Math.round(one.getBoundingClientRect().height) < 11)
    .map((one) => one.textContent)"""
"""What a drawing says shrinks with it."""


async def flaws(page: Page) -> list[str]:
    """Return what is wrong with the open page, at each width and in each scheme; leaves it wide and light."""
    if await page.evaluate("typeof axe") == "undefined":
        await page.evaluate(f"{_AXE.read_text()};0")
    found = []
    for size in (NARROW, WIDE):
        await page.resize(size)
        for scheme in reversed(SCHEMES):
            await page.colours(scheme)
            found += [f"{size[0]} {scheme} {flaw}" for flaw in await page.evaluate(_RUN)]
        found += [f"{size[0]} sticks out: {one}" for one in await page.evaluate(_STICKING_OUT)]
        found += [f"{size[0]} too small: {one}" for one in await page.evaluate(_TOO_SMALL)]
        if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{size[0]} scrolls sideways")
    return found


async def shown(page: Page) -> str:
    """Return what the page says."""
    return str(await page.evaluate("document.body.innerText"))


async def click_through(page: Page, address: str, *presses: tuple[str, str]) -> None:
    """Press one thing after the other, each a selector and what it says, on a page that is opened or already open."""
    if address:
        await page.visit(address)
    for selector, saying in presses:
        await page.evaluate("document.documentElement.dataset.left = '1'")
        await page.click(selector, saying)
        # A press here leads to another page, or back to the same one by a redirect.
        await page.until("!document.documentElement.dataset.left && document.readyState === 'complete'")


def links(within: str) -> str:
    """Return the JavaScript for the addresses within another that the open page leads to."""
    return f"[...document.links].map((one) => one.href).filter((one) => one.startsWith({json.dumps(within)}))"
