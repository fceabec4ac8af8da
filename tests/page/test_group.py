"""A group of three in the Telegram pane: each reads it and writes in it, and a card comes in its person's own chat."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forker import Forker
from tests.page.chromium import NARROW, WIDE, Page
from tests.page.looks import flaws
from tests.page.talk import said
from tests.running_dev import RunningDev, running_dev

pytestmark = [pytest.mark.timeout(400, func_only=True), pytest.mark.xdist_group("own dev"), pytest.mark.slow]
MIDDLE = (1024, 768)
BOT = "@simulator_valet_bot"
TICKS = "[...document.querySelectorAll('#telegram .mine .tick')].map((one) => one.innerText)"
WRITERS = "[...document.querySelectorAll('#telegram .theirs .by')].map((one) => one.innerText)"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Iterator[RunningDev]:
    """A `dev` without a group."""
    home: Path = tmp_path_factory.mktemp("group") / "home"
    with running_dev(forker, home, signal.SIGINT) as dev:
        yield dev


async def test_a_group_of_three_is_made_by_a_button_and_answers_a_mention(page: Page, own: RunningDev) -> None:
    await page.goto(own.simulator_url)
    assert not await page.evaluate("document.querySelector('#telegram .tg-rooms').checkVisibility()")
    await _add_group(page)
    await page.until("document.querySelector('.toast').innerText.includes('Hedy Lamarr are in a group')")
    await _room(page, "Simulated group")
    await page.until("document.querySelector('#telegram .doing').innerText === 'Ada, Grace, Hedy, Valet'")
    await _write(page, f"{BOT} groups on")
    await _hears(page, "I take part in this group now")
    await page.click("#telegram [name=mention]")
    await _write(page, "pizza tonight?")
    await page.until(f"{TICKS}.at(-1) === 'not told to the bot'")
    # Another member sees the same, and asks.
    await page.click(".people label", "Grace")
    await page.until(f"{WRITERS}.includes('Ada Lovelace')")
    await page.click("#telegram [name=mention]")
    await _write(page, f"{BOT} what is 6 * 7?")
    await _hears(page, "42")
    for size in (WIDE, NARROW):
        await page.resize(size)
        if size == NARROW:
            await page.click("#tabs button", "Telegram")
        assert await flaws(page) == []
    await _add_group(page)
    await page.until("document.querySelector('#add-person .problem').innerText.includes('is here already')")
    await page.leave()


async def test_a_card_for_a_members_own_things_is_pressed_in_their_chat(page: Page, own: RunningDev) -> None:
    await page.goto(f"{own.simulator_url}/#ada+grace")
    await _room(page, "Simulated group")
    await _write(page, f"{BOT} email sam@example.com that I am late")
    await _hears(page, "I have asked Ada Lovelace.")
    assert not await page.evaluate("document.querySelector('#telegram .keyboard')")
    await page.click(".second > header [role=tab]", "Telegram")
    await page.click(".second .tg-rooms button", "Simulated group")
    seen = "[...document.querySelectorAll('.second .telegram .theirs .said')].map((one) => one.innerText)"
    await page.until(f"{seen}.includes('I have asked Ada Lovelace.')")
    await _room(page, "Chat")
    await page.until(
        "[...document.querySelectorAll('#telegram .keyboard button')].some((one) => one.innerText === 'Approve')"
    )
    for size in (WIDE, MIDDLE, NARROW):
        await page.resize(size)
        assert await flaws(page) == [], size
    await page.resize(WIDE)
    await page.click("#telegram .keyboard button", "Approve")
    await _hears(page, "Sent to sam@example.com")
    assert not await page.evaluate(f"{seen}.some((one) => one.includes('Sent to'))")
    await page.leave()


async def _add_group(page: Page) -> None:
    await page.click(".people .add-person")
    await page.click("#add-person .family button", "Add a group")


async def _room(page: Page, name: str) -> None:
    await page.click("#telegram .tg-rooms button", name)


async def _write(page: Page, text: str) -> None:
    await page.type("#telegram textarea", text.removeprefix(f"{BOT} "))
    mine = "[...document.querySelectorAll('#telegram .mine .said')].map((one) => one.innerText)"
    await page.until(f"{mine}.at(-1) === {json.dumps(text)}")


async def _hears(page: Page, words: str) -> None:
    await page.until(f"{said('telegram')}.some((one) => one.includes({json.dumps(words)}))")
