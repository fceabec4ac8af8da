"""The buttons of the console in Chromium, each of which does what it says and leads to a page that says so."""

import pytest

from core.ids import make_id
from core.messaging.messages import OutboundKind, OutboundMessage
from core.notifications.types import Notification
from core.people.profile import FactSource, ProfileStore
from operations.programs.tokens import ClientTokens
from tests.abilities.memory.test_pages import remember
from tests.core.harness import opened
from tests.operations.console.harness import ANN, BOB, TOKEN_KEY, Console, open_console
from tests.operations.console.test_deliveries import fail, hold_news, lose
from tests.operations.console.test_linking import give_code
from tests.operations.console.test_people import knock
from tests.page.chromium import Page
from tests.page.looks import click_through, shown

pytestmark = [pytest.mark.timeout(600, func_only=True), pytest.mark.slow]

DELIVERIES = (
    ("button", "Send again", "It is on its way again."),
    ("button", "Leave it", "It is not sent again."),
    ("button", "Send now", "It is on its way, quiet hours or not."),
    ("button", "Leave out", "It is not sent."),
)
PERSON = (
    ("main button", "Change", "The role and the tier are changed."),
    ("main button", "Save", "Saved."),
    ("main button", "Withdraw the code", "The code links nothing any more."),
    ("main button", "Revoke", "Revoked. That program can ask nothing any more."),
)


async def test_an_operators_buttons_about_people_and_deliveries(page: Page, database_url: str) -> None:
    async with opened(database_url) as store, open_console(store) as console:
        bob = await prepare(console)
        await click_through(page, await console.link(ANN), ("button", "Open the console"))
        await click_through(page, f"{console.url}/console/people", ("main button", "Let in"))
        assert "They are in, and may write now." in await shown(page)
        assert await store.db.identities.one("admitted", user_key="+15550000003") == "operator"

        for selector, button, said in DELIVERIES:
            await click_through(page, f"{console.url}/console/deliveries", (selector, button))
            assert said in await shown(page), button
        assert await store.column("select resolution from outbound where resolution <> '' order by 1") == [
            "dropped",
            "resent",
        ]

        place = f"{console.url}/console/people/{bob}"
        for selector, button, said in PERSON:
            await click_through(page, place, (selector, button))
            assert said in await shown(page), button
        await click_through(page, place, ("main button", "Disconnect"), ("main button", "Disconnect"))
        assert "The account is disconnected" in await shown(page)
        await page.visit(place)
        await page.type("input[name=address]", "bob@example.com", send=False)
        await click_through(page, "", ("main button", "Add"))
        assert "The address is kept." in await shown(page)
        await page.type("input[name=id]", bob, send=False)
        await click_through(page, "", ("main button", "Delete for good"))
        assert "A worker deletes them now" in await shown(page)
        assert await store.db.deletions.count() == 1
        await click_through(page, "", ("button", "Sign out"))
        await page.visit(f"{console.url}/console/people")
        assert "They are in" not in await shown(page)
        await page.leave()
        page.problems.clear()  # the last page was refused, as it should be


async def test_a_persons_buttons_about_themselves(page: Page, database_url: str) -> None:
    async with opened(database_url) as store, open_console(store) as console:
        bob = await console.tenant(BOB)
        memory = await remember(console, BOB, "My dentist is Dr. Brown.")
        facts = ProfileStore(store.database, store.make_id)
        await facts.keep(bob, "home_city", "Lisbon", FactSource.TOLD, "", console.clock.now())
        await click_through(page, await console.link(BOB), ("button", "Open the console"))

        await click_through(page, f"{console.url}{memory}", ("main button", "Take back"))
        assert "Taken back." in await shown(page)
        await page.click("main summary", "Correct")
        await page.evaluate("document.querySelector('main details[open] textarea').value = 'My dentist is Dr. Green.'")
        await click_through(page, "", ("main button", "Save"))
        assert "Corrected" in await shown(page)

        place = f"{console.url}/console/people/{bob}"
        await page.visit(place)
        await page.type("main input[name=name]", "laptop", send=False)
        await click_through(page, "", ("main button", "Make the token"))
        assert "ovt_" in await shown(page)
        await page.visit(place)
        await page.type("main input[name=code]", await give_code(console, ANN), send=False)
        await click_through(page, "", ("main button", "Continue"))
        assert "Link yourself with this person?" in await shown(page)
        await page.leave()


async def prepare(console: Console) -> str:
    """Give each button something to act on; return Bob."""
    store, bob = console.store, await console.tenant(BOB)
    await knock(console)
    await lose(console, "Your train is here.", BOB)
    await fail(console, "Your cab is here.", BOB)
    conversation = str(await store.db.conversations.one("id", peer=BOB))
    held = OutboundMessage("out_held", OutboundKind.CARD, "Send the mail?")
    await store.enqueue_in(bob, conversation, [held], held=True)
    await hold_news(console, bob, Notification("Cheaper flights", "price"))
    await give_code(console, BOB)
    await ClientTokens(store.database, make_id, [TOKEN_KEY]).make(bob, "laptop", console.clock.now(), None)
    await console.credentials.save(bob, "acme", {"token": "s3cret"})
    return bob
