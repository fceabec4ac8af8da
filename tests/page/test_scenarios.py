"""A recording on the page becomes a file, which is replayed there, and played elsewhere."""

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from onevalet.testing import read_scenario
from tests.forker import Forker
from tests.page.chromium import Page
from tests.page.looks import flaws
from tests.page.talk import ask, begin, said
from tests.running_dev import RunningDev, running_dev
from workbench.scenarios.playing import play

pytestmark = [pytest.mark.timeout(600, func_only=True), pytest.mark.xdist_group("own dev"), pytest.mark.slow]
STARTS = 180.0
"""Seconds in which a replay has an installation of its own, on a busy machine."""
EMAIL = "Email sam@example.com that I am ten minutes late"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Iterator[RunningDev]:
    """A `dev` with something to record."""
    with running_dev(forker, tmp_path_factory.mktemp("scenarios") / "home", signal.SIGINT) as dev:
        yield dev


async def test_what_is_recorded_is_replayed_and_plays_elsewhere(
    page: Page, own: RunningDev, database_url: str, redis_url: str
) -> None:
    await page.goto(own.simulator_url)
    await begin(page)
    await page.click("#open-scenarios")
    await page.click("#scenarios button", "Record what happens on the page")
    await page.until("document.querySelector('#record').classList.contains('is-recording')")
    await page.click("#record", "Stop")
    await page.click("#scenarios button", "Throw away")
    await page.until("!document.querySelector('[name=scenario-title]')")
    await page.click("#scenarios [aria-label='Close']")
    await page.until("!document.querySelector('#scenarios').open")
    await page.click("#record")
    await page.until("document.querySelector('#record').classList.contains('is-recording')")
    await _talk(page)
    await page.click("#record", "Stop")
    await page.until("document.querySelector('[name=scenario-title]')")
    assert await flaws(page) == []
    await page.type("[name=scenario-title]", "Late for lunch")
    await page.until("[...document.querySelectorAll('.scenarios b')].some((one) => one.innerText === 'Late for lunch')")

    path = own.home / "scenarios" / "late-for-lunch.scenario.toml"
    _holds_what_happened(path)
    await page.click(".speeds button", "Fast")
    await page.click("[aria-label='Replay Late for lunch']")
    await page.until(f"location.origin !== {own.simulator_url!r} && document.querySelector('.steps-played li')", STARTS)
    await page.until("document.querySelector('.outcome').innerText === 'Every step went as the file says.'", STARTS)
    assert await page.evaluate("document.querySelectorAll('.steps-played li:not([data-state=done])').length") == 0
    await page.until(f"{said('slack')}.some((one) => one.includes('Approved'))")
    assert await flaws(page) == []
    await page.click(".back")
    await page.until(f"location.origin === {own.simulator_url!r} && document.querySelector('#live')")
    await page.leave()
    # As pytest plays such a file, which `tests/documents/test_typed.py` types.
    played = await play(read_scenario(path), {"database_url": database_url, "redis_url": redis_url})
    assert any("Sent to sam@example.com" in line for line in played.lines)


async def test_a_replay_shows_the_first_difference_and_goes_step_by_step(page: Page, own: RunningDev) -> None:
    folder = own.home / "scenarios"
    folder.mkdir(exist_ok=True)
    steps = [{"send": "What is 6 * 7?"}, {"expect": "42"}, {"send": "And 7 * 7?"}, {"expect": "50", "within": 3}]
    (folder / "wrong.scenario.json").write_text(json.dumps({"title": "Wrong sums", "step": steps}))
    await page.goto(own.simulator_url)
    await page.click("#open-scenarios")
    await page.click(".speeds button", "Step by step")
    await page.click("[aria-label='Replay Wrong sums']")
    await page.until(f"location.origin !== {own.simulator_url!r} && document.querySelector('.steps-played li')", STARTS)
    await page.until("document.querySelector('.steps-played [data-state=now]')")
    assert await page.evaluate("document.querySelectorAll('.phone .bubble').length") == 0
    await page.click(".replay .primary", "Next step")
    await page.until(f"{said('phone')}.some((one) => one.includes('42'))")
    await page.until("document.querySelectorAll('.steps-played [data-state=done]').length === 2")
    await page.click(".replay .primary", "Next step")
    await page.until("document.querySelector('.outcome').innerText.startsWith('Step 4 went otherwise:')", STARTS)
    shown = await page.evaluate("document.querySelector('.outcome').innerText")
    assert "'50' is in no new message" in shown
    assert "49" in shown
    await page.click(".back")
    await page.until(f"location.origin === {own.simulator_url!r} && document.querySelector('#live')?.dataset.state")
    await page.click("#open-scenarios")
    await page.click("[aria-label='Delete Wrong sums']")
    await page.until("!document.querySelector('[aria-label=\"Delete Wrong sums\"]')")
    assert not (folder / "wrong.scenario.json").exists()
    await page.leave()


async def _talk(page: Page) -> None:
    """Ask for an email, approve it elsewhere, break a provider, and let a reminder ring by the moved clock."""
    await ask(page, "phone", EMAIL)
    await page.until(f"{said('phone')}.some((one) => one.includes('to approve'))")
    code = await page.evaluate("/OK (\\d[0-9A-Z]+)/.exec(document.querySelector('.phone').innerText)[1]")
    await ask(page, "slack", f"OK {code}")
    await page.until(f"{said('phone')}.some((one) => one.includes('Sent to sam@example.com'))")
    await page.evaluate(
        "fetch('/sim/faults', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        # One that is over in a second: what was sent with an unknown end waits for ten, here and at each replay.
        " body: JSON.stringify({endpoint: 'telegram.sendMessage', kind: 'rate_limit'})})"
    )
    await ask(page, "telegram", "Remind me in 2 hours to call Grace")
    await page.until(f"{said('telegram')}.some((one) => one.includes('call Grace'))")
    before = await page.evaluate(f"{said('telegram')}.length")
    await page.evaluate(
        "fetch('/bench/clock', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        " body: JSON.stringify({seconds: 7200})})"
    )
    await page.until(f"{said('telegram')}.slice({before}).some((one) => one.includes('call Grace'))")
    await page.until("document.querySelector('#record').innerText.includes('step')")
    await asyncio.sleep(1)  # the recorder looks now and then


def _holds_what_happened(path: Path) -> None:
    scenario = read_scenario(path)
    assert scenario.title == "Late for lunch"
    assert scenario.model == "scripted"
    verbs = [step.verb for step in scenario.steps]
    for verb in ("send", "expect", "call", "answer", "advance", "fault"):
        assert verb in verbs, verb
    sent = [step.value for step in scenario.steps if step.verb == "send"]
    assert sent == [EMAIL, "OK {code}", "Remind me in 2 hours to call Grace"]
    [moved] = [step.value for step in scenario.steps if step.verb == "advance"]
    assert moved == "2h"
