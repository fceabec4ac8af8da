"""A person reacts on the page, in each pane, by the mouse and on a phone, and takes it back."""

import pytest

from tests.page.chromium import NARROW, WIDE, Page
from tests.page.gateway import ScriptedGateway
from tests.page.looks import flaws
from tests.page.talk import FIELDS, ask, said
from workbench.simulator.app import Simulator

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev")]
HEARD = {"secret_token": "page-secret", "allowed_updates": ["message", "message_reaction"]}


def thumb(pane: str, name: str = "Thumbs up") -> str:
    """Return the selector of a thumb beside the assistant's messages."""
    return f".{pane} .theirs .tools [aria-label='{name}']"


async def react(page: Page, pane: str) -> None:
    """Put a thumb on the last answer in a pane, see it there, and take it back."""
    await page.click(f".{pane} .theirs .bubble", "You said: hello")  # what is chosen keeps its buttons
    await page.click(thumb(pane))
    await page.until(f"document.querySelector('.{pane} .theirs .reactions .icon-thumb')")
    # By SMS that was a text, which is answered: the last message is another one by now.
    await page.click(f".{pane} .theirs .tools [aria-pressed='true']")
    await page.until(f"!document.querySelector('.{pane} .theirs .reactions .icon-thumb')")


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
async def test_a_person_reacts_in_each_pane_and_takes_it_back(
    page: Page, simulator: Simulator, gateway: ScriptedGateway, size: tuple[int, int]
) -> None:
    await page.resize(size)
    await page.goto(simulator.url)
    for pane in FIELDS:
        if size == NARROW:
            await page.click(".tabs button", pane.capitalize())
        if pane == "telegram":
            await gateway.telegram("setWebhook", **HEARD, url=f"{simulator.wire.gateway_url}/webhooks/telegram")
            await page.click(".telegram .big", "START")
        await ask(page, pane, "hello")
        await page.until(f"{said(pane)}.some((one) => one.includes('You said: hello'))")
        await react(page, pane)
    texts = [bubble["text"] for bubble in simulator.providers["twilio"].state()["people"]["ada"]["bubbles"]]  # type: ignore[index, call-overload, union-attr]
    assert texts.count("Liked “You said: hello”") == 1
    assert texts.count("Removed a like from “You said: hello”") == 1
    assert page.problems == []
    await page.resize(WIDE)
    assert await flaws(page) == []
