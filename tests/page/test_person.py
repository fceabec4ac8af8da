"""Who a person is to the assistant, beside the chats, and a stranger."""

import pytest

from tests.page.chromium import Page
from tests.page.looks import flaws
from tests.page.talk import ask, said
from tests.running_dev import RunningDev

pytestmark = [pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev"), pytest.mark.slow]


async def test_the_panel_shows_what_waits_and_decides_it(page: Page, dev: RunningDev) -> None:
    await page.goto(dev.simulator_url)
    await page.click(".wire [role=tab]", "Person")
    await page.until(
        "['SMS', 'Slack', 'Telegram'].every((one) => document.querySelector('.person').innerText.includes(one))"
    )
    await _decide_what_others_left(page)
    await ask(page, "slack", "Email sam@example.com that I am here")
    await page.until("document.querySelector('.person li:has(button)').innerText.includes('email to sam@example.com')")
    await page.click(".wire [role=tab]", "Path")
    await page.until("document.querySelector('.path .figures').innerText.includes('waiting')")
    await page.use(".slack .mine", "", "Wire")
    for tab, words in (
        ("Wire", "about this Slack message"),
        ("Path", "The turn of this"),
        ("Wire", "about this Slack message"),
    ):
        await page.click(".wire [role=tab]", tab)
        # At once: no news from the providers has to come first.
        assert words in await page.evaluate("document.querySelector('.what').innerText"), tab
    await page.click(".wire [role=tab]", "Person")
    await page.click(".slack .actions button", "Details")
    await page.until("document.querySelector('.modal-body').innerText.includes('Recipient: sam@example.com\\nSubject')")
    await page.click(".modal footer button", "Close")
    await page.click(".person li button", "Approve")
    await page.until(f"{said('slack')}.some((one) => one.includes('Sent to sam@example.com'))")
    await page.until("!document.querySelector('.person li button')")
    assert await flaws(page) == []
    await page.click(".people label", "Grace")
    # Nobody else of this `dev` is a stranger for sure: other tests let people in.
    await page.click(".people .add-person")
    await page.type("#add-person [name=person-name]", "Sophie Germain")
    await page.click(".people label", "Sophie")
    await page.until("document.querySelector('.person').innerText.includes('A stranger here')")
    await page.leave()


async def _decide_what_others_left(page: Page) -> None:
    open_cards = "document.querySelectorAll('.person li:has(button)').length"
    while left := int(await page.evaluate(open_cards)):
        await page.click(".person li button", "Cancel")
        await page.until(f"{open_cards} < {left}")
