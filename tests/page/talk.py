"""What a person does in the three panes, whoever is behind them."""

import json

from tests.page.chromium import Page

FIELDS = {"phone": "textarea[name=sms]", "slack": "textarea[name=slack]", "telegram": "textarea[name=telegram]"}


async def talk_in_every_pane(page: Page, url: str, question: str, answer: str) -> None:
    """Open the page, ask in each pane, and read there an answer that holds `answer` (whatever the case)."""
    await page.goto(url)
    await begin(page)
    for pane in FIELDS:
        await ask(page, pane, question)
    for pane in FIELDS:
        await page.until(f"{said(pane)}.some((one) => one.toLowerCase().includes({json.dumps(answer.lower())}))")


async def begin(page: Page) -> None:
    """Begin the talk on Telegram, unless somebody who used the same `dev` did, and wait for the greeting."""
    await page.until("document.querySelector('.telegram')?.offsetParent")
    if await page.evaluate("!!document.querySelector('.telegram .big')?.checkVisibility()"):
        await page.click(".telegram .big", "START")
    await page.until(f"{said('telegram')}.length")


async def ask(page: Page, pane: str, text: str) -> None:
    """Type a message and send it."""
    await page.until(f"document.querySelector({FIELDS[pane]!r})?.offsetParent")
    await page.type(FIELDS[pane], text)
    await page.until(
        f"[...document.querySelectorAll('.{pane} .mine .said')].some((one) => one.innerText === {json.dumps(text)})"
    )


def said(pane: str) -> str:
    """Return the JavaScript for what the assistant said in a pane, without the time of day beside it."""
    words = "one.innerText.replace(one.querySelector('time')?.innerText ?? '', '')"
    return f"[...document.querySelectorAll('.{pane} .theirs .bubble')].map((one) => {words})"
