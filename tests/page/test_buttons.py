"""The smaller buttons of the page, pressed with the mouse: people who type and press Enter never meet them."""

import pytest

from tests.page.chromium import NARROW, Page
from tests.page.gateway import ScriptedGateway
from tests.page.talk import FIELDS, ask, said
from workbench.simulator.app import Simulator

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev")]


async def test_a_message_is_sent_by_its_button_in_each_pane(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    await page.click(".telegram .big", "START")
    for pane, field in FIELDS.items():
        await page.type(field, f"Sent by {pane}", send=False)
        await page.click(f".{pane} [aria-label^='Send: ']")
        await page.until(f"{said(pane)}.some((one) => one.includes('You said: Sent by {pane}'))")


async def test_faults_are_cleared_and_each_drawer_and_dialog_is_closed(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    await page.click("#open-faults")
    await page.click("#faults button", "Add the fault")
    await page.until("document.querySelector('#fault-count').innerText === '1'")
    await page.click("#faults button", "Clear all")
    await page.until("document.querySelector('#fault-count').hidden")
    assert not simulator.wire.faults.rules()
    await page.click("#faults [aria-label='Close']")
    await page.until("!document.querySelector('#faults').open")
    await page.click("#open-help")
    await page.click("#help [aria-label='Close']")
    await page.until("!document.querySelector('#help').open")
    await page.click("[aria-label='Add a person']")
    await page.type("#add-person [name=person-name]", "Emmy Noether", send=False)
    await page.click("#add-person button", "Add them")
    await page.until("document.querySelector('.people').innerText.includes('Emmy')")
    await page.click("[aria-label='Close the second person']")
    await page.until("!document.querySelector('.second')?.checkVisibility()")
    await page.click("[aria-label='Add a person']")
    await page.click("#add-person [aria-label='Close']")
    await page.until("!document.querySelector('#add-person').open")


async def test_a_thread_is_closed_and_an_answer_is_given_up(
    page: Page, simulator: Simulator, gateway: ScriptedGateway
) -> None:
    gateway.status_seen.set()
    await page.goto(simulator.url)
    await ask(page, "slack", "hello")
    await page.use(".slack .theirs", "", "Reply")
    await page.click("[aria-label='Close the thread']")
    await page.until("document.querySelector('.thread').hidden")
    await page.click(".telegram .big", "START")
    await ask(page, "telegram", "a question please")
    await page.until("document.querySelector('.telegram .replying').innerText.includes('a question please')")
    await page.click(".telegram .replying [aria-label='Cancel']")
    await page.until("document.querySelector('.telegram .replying').hidden")
    assert await page.evaluate("document.querySelector('.telegram textarea').placeholder") == "Message"


async def test_telegram_sends_a_place_and_its_last_update_again(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    await page.click(".telegram .big", "START")
    await ask(page, "telegram", "once")
    await page.until(f"{said('telegram')}.some((one) => one.includes('You said: once'))")
    await page.click(".telegram .menu summary")
    await page.click(".telegram .menu button", "Deliver the last update again")
    await page.until(f"{said('telegram')}.filter((one) => one.includes('You said: once')).length === 2")
    await page.click(".telegram .menu summary")
    await page.click(".telegram .where summary")
    await page.click(".telegram .place button", "Send the location")
    await page.until("document.querySelector('.telegram').innerText.includes('51.5014')")


async def test_a_phone_opens_the_wire_and_jumps_to_what_is_new(
    page: Page, simulator: Simulator, gateway: ScriptedGateway
) -> None:
    await page.resize(NARROW)
    await page.goto(simulator.url)
    for number in range(6):
        await ask(page, "phone", "\n".join([f"Line {number}"] * 8))
    await page.until(f"{said('phone')}.length === 6")
    await page.evaluate("document.querySelector('.phone .messages').scrollTop = 0")
    await gateway.text("While you read above")
    await page.until("document.querySelector('.phone .jump').checkVisibility()")
    await page.click(".phone .jump", "New messages")
    await page.until("document.querySelector('.phone .jump').hidden")
    await page.click(".wire-toggle", "Show")
    await page.until("document.querySelector('.wire-toggle').innerText === 'Hide'")
    assert await page.evaluate("document.querySelector('.exchange').checkVisibility()")


async def test_what_is_hidden_in_a_message_is_shown(page: Page, simulator: Simulator, gateway: ScriptedGateway) -> None:
    await page.goto(simulator.url)
    await page.click(".telegram .big", "START")
    await page.until(f"{said('telegram')}.length || document.querySelector('.telegram .composer').offsetParent")
    ada = simulator.wire.config.people[0].telegram_user
    hidden = {"type": "spoiler", "offset": 6, "length": 5}
    await gateway.telegram("sendMessage", chat_id=ada, text="It is a boy", entities=[hidden])
    await page.click("[aria-label='Show what is hidden']", "a boy")
    await page.until("document.querySelector('.spoiler').classList.contains('is-open')")
