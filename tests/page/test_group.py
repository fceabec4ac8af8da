"""A group of three in Telegram and in Slack: each reads and writes there, and a card comes in its person's own chat."""

import json
import os
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
PICTURES = os.environ.get("ONEVALET_PICTURES", "")
"""A folder for pictures of the channel, for whoever looks at them."""
TICKS = "[...document.querySelectorAll('#telegram .mine .tick')].map((one) => one.innerText)"
CHANNEL = "document.querySelector('#slack .in-group')"
POSTERS = f"[...{CHANNEL}.querySelectorAll('.by strong')].map((one) => one.innerText)"
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
    await _hears(page, "I now take part in this group")
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


async def test_a_channel_of_three_answers_a_mention_and_its_thread(page: Page, own: RunningDev) -> None:
    await page.goto(own.simulator_url)
    await page.until("document.querySelector('#slack [role=tab]')")
    if await page.evaluate("document.querySelectorAll('#slack [role=tab]')[2].hidden"):
        await _add_group(page)
    await page.click("#slack [role=tab]", "#general")
    assert await page.evaluate("document.querySelector('#slack .members').innerText.startsWith('Ada, Grace, Hedy, ')")
    await _post(page, "groups on")
    await _reads(page, "I now take part in this group")
    # Another member sees the same, asks, and goes on in a thread.
    await page.click(".people label", "Grace")
    await page.until(f"{POSTERS}.includes('Ada Lovelace')")
    await _post(page, "what is 6 * 7?")
    await _reads(page, "6 * 7 = 42")
    for size in (WIDE, MIDDLE, NARROW):
        await page.resize(size)
        if size == NARROW:
            await page.click("#tabs button", "Slack")
        if PICTURES:
            await page.screenshot(Path(PICTURES) / f"channel-{size[0]}.png")
        assert await flaws(page) == [], size
    await page.resize(WIDE)
    await page.evaluate(f"[...{CHANNEL}.querySelectorAll('.theirs')].at(-1).scrollIntoView();0")
    await page.evaluate(
        f"[...{CHANNEL}.querySelectorAll('.mine button')].findLast((one) => one.innerText === 'Reply').click();0"
    )
    await page.type("#slack textarea[name=slack-channel-thread]", "what is 7 * 8?")
    await page.until(
        f"[...{CHANNEL}.querySelectorAll('.thread .theirs .bubble')].some((one) => one.innerText.includes('56'))"
    )
    if PICTURES:
        await page.screenshot(Path(PICTURES) / "channel-thread.png")
    await page.leave()


async def _post(page: Page, text: str) -> None:
    await page.type("#slack textarea[name=slack-channel]", text)
    mine = f"[...{CHANNEL}.querySelectorAll('.mine .said')].map((one) => one.innerText)"
    await page.until(f"{mine}.at(-1)?.endsWith({json.dumps(text)})")


async def _reads(page: Page, words: str) -> None:
    theirs = f"[...{CHANNEL}.querySelectorAll('.theirs .bubble')]"
    await page.until(f"{theirs}.some((one) => one.innerText.includes({json.dumps(words)}))")


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
