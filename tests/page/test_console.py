"""The console in headless Chromium, over a whole `dev`: each page, and what a person does on it."""

import asyncio
import re

import pytest

from tests.abilities.memory.test_pages import remember
from tests.core.harness import opened
from tests.operations.console.asking import take_step
from tests.operations.console.harness import ANN, BOB, open_console
from tests.operations.console.test_deliveries import fail
from tests.operations.console.test_linking import give_code
from tests.operations.console.test_prompts import ask_model
from tests.page.busy import be_busy
from tests.page.chromium import Browser, Page, open_page
from tests.page.looks import click_through, flaws, links, shown
from tests.page.talk import said
from tests.running_dev import RunningDev

pytestmark = [pytest.mark.timeout(600, func_only=True), pytest.mark.xdist_group("dev"), pytest.mark.slow]

PAGES = {
    "/console",
    "/console/conversations",
    "/console/conversations/ID/ID",
    "/console/turns/ID",
    "/console/waiting",
    "/console/waiting/approvals/ID/ID",
    "/console/tasks",
    "/console/tasks/ID/ID",
    "/console/deliveries",
    "/console/deliveries/stops",
    "/console/people",
    "/console/people/ID",
    "/console/people/ID/memory",
    "/console/health",
}
"""What is reached at least, by links alone."""
FURTHER = ("/console/tasks?view=calendar", "/console/tasks?state=FAILED", "/console/nothing-here")
"""What forms lead to."""


@pytest.fixture(scope="module")
def busy(dev: RunningDev, browser: Browser) -> RunningDev:
    """Return a `dev` with which somebody has talked."""

    async def talk() -> None:
        async with open_page(browser) as page:
            await be_busy(page, dev.simulator_url)
            await page.leave()

    asyncio.run(talk())
    return dev


def kind(address: str) -> str:
    """Return an address with a word in place of each id."""
    path, _, query = address.partition("?")
    path = re.sub(r"/[^/]*\d[^/]*", "/ID", path.rstrip("/"))
    return f"{path}?{','.join(re.findall(r'(\w+)=', query))}" if query else path


async def test_every_page_fits_and_can_be_used_by_everybody(page: Page, busy: RunningDev) -> None:
    console = f"{busy.url}/console"
    seen, found = set[str](), dict[str, list[str]]()
    waiting = [console, *(f"{busy.url}{further}" for further in FURTHER[:-1])]
    while waiting:
        address = waiting.pop(0)
        here = kind(address.removeprefix(busy.url))
        if here in seen:
            continue
        seen.add(here)
        await page.visit(address)
        if wrong := await flaws(page):
            found[here] = wrong
        waiting += await page.evaluate(links(console))
    assert seen >= PAGES
    assert found == {}


async def test_a_card_approved_in_the_console_is_redrawn_on_slack(
    page: Page, busy: RunningDev, browser: Browser
) -> None:
    async with open_page(browser) as slack:
        await slack.goto(busy.simulator_url)
        await slack.until(f"{said('slack')}.some((one) => one.includes('ruth@example.com'))")
        await click_through(page, f"{busy.url}/console/waiting", ("main a", "ruth@example.com"), ("button", "Approve"))
        assert "Approved. It runs now" in await shown(page)
        await slack.until(f"{said('slack')}.some((one) => one.includes('Sent to ruth@example.com'))")
        card = "one.innerText.includes('ruth@example.com') && one.innerText.includes('Approved at')"
        await slack.until(f"[...document.querySelectorAll('.slack .theirs')].some((one) => {card})")
        await slack.leave()
    await page.until("document.body.innerText.includes('Nothing is waiting')")


async def test_a_task_is_paused_and_resumed(page: Page, busy: RunningDev) -> None:
    await click_through(page, f"{busy.url}/console/tasks", ("main a", "water the plants"), ("button", "Pause"))
    assert "Paused: nothing runs until it is resumed." in await shown(page)
    await click_through(page, f"{busy.url}/console/tasks", ("main a", "paused"), ("button", "Resume"))
    assert "Resumed, from now on." in await shown(page)


async def test_a_turn_is_followed_to_a_step_while_it_runs(page: Page, database_url: str) -> None:
    async with opened(database_url) as store, open_console(store, local=True) as console:
        await store.say("Is it raining?", sender=ANN)
        lease, turn = await store.claim_turn()
        await take_step(store, lease, turn.turn_id, "tool", "get_weather", 0, {"text": "Drizzle.", "chars": 8})
        await click_through(page, f"{console.url}/console", ("main a", "working"), ("a.bubble", "Is it raining?"))
        assert "running" in await shown(page)
        await page.click("summary", "get_weather")
        await page.until("document.querySelector('details[open]').innerText.includes('Drizzle.')")
        top = "document.querySelector('details[open] pre').getBoundingClientRect().top"
        before = await page.evaluate(top)
        await take_step(store, lease, turn.turn_id, "tool", "get_tides", 1, {"text": "High at noon.", "chars": 13})
        await page.until("document.body.innerText.includes('get_tides')")
        assert await page.evaluate(top) == before, "nothing moves, and what was opened is open"
        await store.finish(lease, turn, "Yes, a drizzle.")
        await store.send(await store.claim_sending("Yes, a drizzle."))
        await page.until("document.querySelector('.figures').innerText.includes('done')")
        await page.until("document.body.innerText.includes('Handed to the provider')")
        assert await page.evaluate(top) == before
        await page.leave()


async def test_a_step_opens_to_its_prompt_which_everybody_can_read(page: Page, database_url: str) -> None:
    async with opened(database_url) as store, open_console(store) as console:
        turn = await ask_model(store)
        await click_through(page, await console.link(BOB), ("button", "Open the console"))
        await page.visit(f"{console.url}/console/turns/{turn}")
        await page.click("summary", "gpt-5: answers")
        await page.click("details[open] summary", "Prompt as sent: 5 messages, 2 tools")
        assert "result of read_file, written by others" in await shown(page)
        assert await flaws(page) == []
        await page.leave()


async def test_a_message_is_sent_again_a_memory_forgotten_and_a_code_approved(page: Page, database_url: str) -> None:
    async with opened(database_url) as store, open_console(store) as console:
        await fail(console, "Your cab is here.", BOB)
        memory = await remember(console, BOB, "I am allergic to peanuts.")
        await click_through(page, await console.link(BOB), ("button", "Open the console"))
        await click_through(page, f"{console.url}/console/deliveries", ("button", "Send again"))
        assert "It is on its way again." in await shown(page)
        assert "Your cab is here." not in await shown(page)

        await page.visit(f"{console.url}{memory}")
        await page.click("main summary", "Correct")
        await page.until("document.querySelector('main details[open] textarea').offsetWidth > 400")
        await click_through(page, "", ("button", "Forget"))
        assert "allergic to peanuts" in await shown(page), "what would go is shown first"
        await click_through(page, "", ("main button", "Forget"))
        assert "Forgotten." in await shown(page)
        assert await store.db.memories.count() == 0

        code = await give_code(console, ANN)
        await page.visit(f"{console.url}{memory.removesuffix('/memory')}")
        await page.type("main input[name=code]", code)
        await page.until("document.body.innerText.includes('Link yourself with this person?')")
        await page.type("main input[name=code]", code)
        await page.until("document.body.innerText.includes('Linked. Every chat of both is told')")
        assert await store.db.tenants.count() == 1
        await page.leave()
