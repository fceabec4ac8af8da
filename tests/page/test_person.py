"""Who a person is to the assistant, beside the chats, and a stranger."""

import pytest

from tests.page.chromium import Page
from tests.page.looks import flaws
from tests.page.talk import ask, said
from tests.running_dev import RunningDev

pytestmark = [pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev"), pytest.mark.slow]
WAITING = "[...document.querySelectorAll('.person li:has(button)')]"


async def test_the_panel_shows_what_waits_and_decides_it(page: Page, dev: RunningDev) -> None:
    await page.goto(dev.simulator_url)
    await page.click(".wire [role=tab]", "Person")
    await page.until(
        "['SMS', 'Slack', 'Telegram'].every((one) => document.querySelector('.person').innerText.includes(one))"
    )
    await ask(page, "slack", "Email sam@example.com that I am here")
    # Before it stands what other tests of this `dev` left.
    await page.until(f"{WAITING}.at(-1).innerText.includes('email to sam@example.com')")
    code = await page.evaluate(f"{WAITING}.at(-1).querySelector('b').innerText")
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
    await page.until(f"!{WAITING}.some((one) => one.innerText.includes('{code}'))")
    assert await flaws(page) == []
    await page.click(".people label", "Grace")
    # Nobody else of this `dev` is a stranger for sure: other tests let people in.
    await page.click(".people .add-person")
    await page.type("#add-person [name=person-name]", "Sophie Germain")
    await page.click(".people label", "Sophie")
    await page.until("document.querySelector('.person').innerText.includes('A stranger here')")
    await page.leave()
