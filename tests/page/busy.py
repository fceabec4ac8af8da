"""An afternoon of Ada's with `dev`, so that each page of the console has something to show."""

import json

from tests.page.chromium import Page
from tests.page.talk import ask, begin, said

LETTER = "Email ruth@example.com that the contract is signed"
FLIGHTS = "Find flights from Berlin to Rome on Friday and email the results to sam@example.com"


async def be_busy(page: Page, simulator_url: str) -> None:
    """Talk in each pane: two tasks, a letter that was sent, and one that waits for Ada."""
    await page.goto(simulator_url)
    await begin(page)
    await _talk(page, "telegram", "Remind me at 18:30 to call Grace", "18:30")
    await _talk(page, "telegram", "Every weekday at 8:00 remind me to water the plants", "every weekday")
    await _talk(page, "slack", FLIGHTS, "to approve")
    await page.click(".slack button.element", "Approve")
    await _said(page, "slack", "Sent to sam@example.com")
    await _talk(page, "slack", LETTER, "ruth@example.com")


async def _talk(page: Page, pane: str, text: str, answer: str) -> None:
    await ask(page, pane, text)
    await _said(page, pane, answer)


async def _said(page: Page, pane: str, words: str) -> None:
    """Wait until the assistant has said something in a pane, and is not writing any more."""
    await page.until(f"{said(pane)}.some((one) => one.includes({json.dumps(words)}))")
    await page.until("!document.querySelector('.is-draft')")
