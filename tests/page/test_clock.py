"""People's time on the page: paused, moved ahead and run fast; what is due follows it, and comes no sooner."""

import asyncio
import signal
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.forker import Forker
from tests.page.chromium import Page
from tests.page.talk import FIELDS, ask, begin, said
from tests.running_dev import RunningDev, running_dev

pytestmark = [pytest.mark.timeout(400, func_only=True), pytest.mark.xdist_group("own dev"), pytest.mark.slow]
LONDON = ZoneInfo("Europe/London")
QUIET_FOR = 3.0
"""Seconds in which something that is due would have come."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Iterator[RunningDev]:
    """A `dev` whose time may be moved."""
    home: Path = tmp_path_factory.mktemp("clock") / "home"
    with running_dev(forker, home, signal.SIGINT) as dev:
        yield dev


@pytest.fixture
async def talk(page: Page, own: RunningDev) -> Page:
    """The page, with the talk on Telegram begun."""
    await page.goto(own.simulator_url)
    await begin(page)
    return page


async def test_time_that_stands_still_lets_nothing_come_and_fast_time_does(talk: Page) -> None:
    await _turn(talk, "Stopped")
    await talk.until("document.querySelector('.speed').innerText === 'stopped'")
    await ask(talk, "telegram", "Remind me in 5 minutes to turn the oven off")
    await talk.until(f"{said('telegram')}.some((one) => one.includes('turn the oven off'))")
    before = await _count(talk, "turn the oven off")
    await asyncio.sleep(QUIET_FOR)
    assert await _count(talk, "turn the oven off") == before
    await _turn(talk, "A minute a second")
    await talk.until(f"{_all('turn the oven off')}.length === {before + 1}")
    await _turn(talk, "As it is")
    await talk.leave()


async def test_an_approval_expires_by_the_clock(talk: Page) -> None:
    await ask(talk, "phone", "Email sam@example.com that I am ten minutes late")
    await talk.until(f"{said('phone')}.some((one) => one.includes('to approve'))")
    # A card's time begins when it has arrived.
    await talk.until("[...document.querySelectorAll('.phone .theirs .tick')].at(-1).innerText.includes('delivered')")
    code = await talk.evaluate(f"/OK (\\d[0-9A-Z]+)/.exec({said('phone')}.at(-1))[1]")
    await _turn(talk, "+1 h")
    await ask(talk, "phone", f"OK {code}")
    await talk.until(f"{said('phone')}.at(-1).includes('{code} expired')")
    assert (
        await talk.evaluate("fetch('/sim/state').then((answer) => answer.json()).then(({ mail }) => mail.length)") == 0
    )
    await talk.leave()


async def test_cron_quiet_hours_and_the_digest_follow_the_clock(talk: Page) -> None:
    await ask(talk, "telegram", "Every day at 23:00 remind me to lock the door")
    await talk.until(f"{said('telegram')}.some((one) => one.includes('lock the door'))")
    before = await _count(talk, "lock the door")
    await _jump(talk, 23, 5)
    await talk.until(f"{_all('lock the door')}.length === {before + 1}")

    await ask(talk, "telegram", "/prefs quiet 22:00-07:00")
    await talk.until(f"{said('telegram')}.at(-1).includes('22:00')")
    # They are due at three and not again before the quiet hours are over, when each would be told by itself.
    for words in ("Every 4 hours remind me to drink water", "Every 4 hours remind me to feed the cat"):
        await ask(talk, "telegram", words)
        await talk.until(f"{said('telegram')}.at(-1).includes({words.partition('me to ')[2]!r})")
    water, cat = await _count(talk, "drink water"), await _count(talk, "feed the cat")
    await _jump(talk, 4, 0)
    await asyncio.sleep(QUIET_FOR)
    assert (await _count(talk, "drink water"), await _count(talk, "feed the cat")) == (water, cat)
    await _jump(talk, 7, 1)
    digest = f"{said('telegram')}.filter((one) => one.includes('drink water') && one.includes('feed the cat'))"
    await talk.until(f"{digest}.length === 1")
    assert (await _count(talk, "drink water"), await _count(talk, "feed the cat")) == (water + 1, cat + 1)
    await talk.leave()


async def test_all_three_chats_answer_when_time_was_moved(talk: Page) -> None:
    await _turn(talk, "+1 day")
    for pane in FIELDS:
        await ask(talk, pane, "What is 6 * 7?")
    for pane in FIELDS:
        await talk.until(f"{said(pane)}.some((one) => one.includes('42'))")
    await talk.leave()


async def _turn(page: Page, button: str) -> None:
    await page.evaluate("document.querySelector('#clock').open = true")
    await page.click("#clock button", button)


async def _jump(page: Page, hour: int, minute: int) -> None:
    """Jump to the next moment at which the person's clock shows that."""
    told = await page.evaluate("fetch('/bench/clock').then((answer) => answer.json()).then(({ now }) => now)")
    now = datetime.fromtimestamp(told, LONDON)
    then = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    then += timedelta(days=1) if then <= now else timedelta()
    await page.evaluate("document.querySelector('#clock').open = true")
    await page.evaluate(f"document.querySelector('#clock [name=when]').value = '{then:%Y-%m-%dT%H:%M}'")
    await page.click("#clock .primary", "Jump")
    await page.until(f"document.querySelector('#clock b').innerText.endsWith('{then:%H:%M}')")


def _all(words: str) -> str:
    return f"{said('telegram')}.filter((one) => one.includes({words!r}))"


async def _count(page: Page, words: str) -> int:
    return int(await page.evaluate(f"{_all(words)}.length"))
