"""Two people side by side, somebody new, and strangers who meet pairing and are let in."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forker import Forker
from tests.page.chromium import NARROW, WIDE, Page
from tests.page.looks import flaws
from tests.page.talk import ask, said
from tests.running_dev import RunningDev, running_dev
from workbench.dev.bench.household import TO_TRY

pytestmark = [pytest.mark.timeout(400, func_only=True), pytest.mark.xdist_group("own dev"), pytest.mark.slow]
THEIRS = "[...document.querySelectorAll('.second .phone .theirs .said')].map((one) => one.innerText)"
TICKS = "[...document.querySelectorAll('.second .phone .theirs .tick')].map((one) => one.innerText)"
COLOURS = """[...document.querySelectorAll('.slack-head [role=tab]')].filter((one) => one.innerText === '{tab}')
    .map((one) => getComputedStyle(one).color)"""
MOST_WIDE, MIDDLE = (1366, 768), (1024, 768)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a `dev` that starts twice."""
    return tmp_path_factory.mktemp("people") / "home"


@pytest.fixture
def own(home: Path, forker: Forker) -> Iterator[RunningDev]:
    """A `dev` with its people."""
    with running_dev(forker, home, signal.SIGINT) as dev:
        yield dev


async def test_somebody_whom_the_assistant_does_not_know_is_introduced(page: Page, own: RunningDev) -> None:
    await page.goto(own.simulator_url)
    await ask(page, "phone", "What is 6 * 7?")
    await page.until("document.querySelector('.path .waterfall').innerText.includes('Received')")
    await page.click(".people label", "Grace")
    for pane in ("phone", "slack"):
        await page.until(f"document.querySelector('.{pane} .hint-empty').innerText.includes('Grace is a stranger')")
    await page.until("document.querySelector('.path .empty').innerText.startsWith('Write something')")
    assert await flaws(page) == []
    await page.click(".people label", "Ada")
    await page.until("!document.querySelector('.slack .hint-empty').innerText.includes('stranger')")
    await page.leave()


async def test_a_stranger_beside_the_owner_meets_pairing_and_is_let_in(page: Page, own: RunningDev) -> None:
    await page.goto(own.simulator_url)
    await _add(page, "Mary Somerville")
    await page.until("document.querySelector('.second select').selectedOptions[0].innerText === 'Mary Somerville'")
    await _writes(page, "Hello, who is there?")
    await page.until("document.querySelector('.second .let-in')?.checkVisibility()")
    assert "give this code" in await page.evaluate(f"{THEIRS}.at(-1)")
    # The owner's chats are where they were, and say nothing of it.
    await ask(page, "phone", "What is 6 * 7?")
    await page.until(
        "[...document.querySelectorAll('#phone .theirs .said')].some((one) => one.innerText.includes('42'))"
    )
    for size in (WIDE, MOST_WIDE, MIDDLE):
        await page.resize(size)
        assert await page.evaluate("document.querySelector('#phone').checkVisibility()"), size
        assert await page.evaluate("document.querySelector('.second .phone').checkVisibility()"), size
    assert await flaws(page) == []
    await page.resize(WIDE)
    await page.click(".second .let-in button", "Let them in")
    await page.until("document.querySelector('.second .let-in').innerText.includes('they may write now')")
    await _writes(page, "What is 7 * 8?")
    await page.until(f"{THEIRS}.some((one) => one.includes('56'))")
    await page.until("!document.querySelector('.second .let-in')")
    await page.click(".second > header [role=tab]", "Slack")
    for tab in ("Messages", "Home"):
        assert len(set(await page.evaluate(COLOURS.format(tab=tab)))) == 1, "Slack's tabs look the same beside"
    assert await flaws(page) == []
    await page.resize(WIDE)
    await _add(page, "Emmy Noether")
    await page.until("document.querySelector('.second select').selectedOptions[0].innerText === 'Emmy Noether'")
    await page.click(".second > header [role=tab]", "Phone")
    await _writes(page, "Hello?")
    await page.click(".second .let-in button", "As a guest")
    # Its message is drawn anew by then.
    await page.until(f"{TICKS}.at(-1).includes('delivered')")
    await page.until("document.querySelector('.second .let-in').innerText.includes('they may write now')")
    await page.click(".people label", "Mary")
    await page.click(".wire [role=tab]", "Person")
    await page.until("document.querySelector('.person').innerText.includes('member')")
    await page.leave()


async def test_who_was_added_is_there_after_a_restart_and_reset_and_on_a_phone(page: Page, own: RunningDev) -> None:
    await page.goto(f"{own.simulator_url}/#ada+mary")
    await page.until(f"{THEIRS}.some((one) => one.includes('56'))")
    await page.evaluate(
        "fetch('/sim/reset', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'})"
    )
    await page.until(f"!{THEIRS}.length")
    await _writes(page, "What is 8 * 9?")
    await page.until(f"{THEIRS}.some((one) => one.includes('72'))")
    await page.resize(NARROW)
    assert not await page.evaluate("document.querySelector('.second').checkVisibility()")
    await page.click(".tabs button", "Mary")
    await page.until("document.querySelector('.second .phone').checkVisibility()")
    assert not await page.evaluate("document.querySelector('#phone').checkVisibility()")
    await page.click(".close-second")
    await page.until("document.querySelector('#phone').checkVisibility()")
    await page.click(".people .add-person")
    await page.type("#add-person [name=person-name]", "mary  somerville")
    await page.until("document.querySelector('#add-person .problem').innerText.includes('is here already')")
    await page.leave()


async def test_a_household_of_two_adults_and_a_child_is_made_by_a_button(page: Page, own: RunningDev) -> None:
    await page.goto(own.simulator_url)
    for size in (NARROW, WIDE):
        await page.resize(size)
        await page.click(".people .add-person")
        await page.until("document.querySelector('#add-person .family').checkVisibility()")
        assert await flaws(page) == []
        await page.resize(size)
        await page.click("#add-person [aria-label=Close]")
    await page.click(".people .add-person")
    await page.click("#add-person .family button", "Add a household")
    await page.until("document.querySelector('.toast').innerText.includes('Cleo Lovelace, a child')")
    for name, role in (("Cleo", "child"), ("Ben", "adult"), ("Ada", "owner")):
        await page.click(".people label", name)
        await ask(page, "phone", "HOUSEHOLD")
        await page.until(f"{said('phone')}.some((one) => one.includes('{name} Lovelace ({role})'))")
    await page.until(f"{said('phone')}.some((one) => one.includes('Ben Lovelace has joined'))")
    assert await flaws(page) == []
    await page.resize(WIDE)
    await page.click(".people .add-person")
    await page.click("#add-person .family button", "Add a household")
    await page.until("document.querySelector('#add-person .problem').innerText.includes('are here already')")
    await page.leave()


async def test_what_two_must_agree_to_is_shown_to_both_of_them(page: Page, own: RunningDev) -> None:
    await page.goto(f"{own.simulator_url}/#ada+ben")
    await page.until("document.querySelector('.second select').selectedOptions[0].innerText === 'Ben Lovelace'")
    await ask(page, "phone", TO_TRY)
    await page.until(f"{said('phone')}.some((one) => one.includes('Needs Ben'))")
    await page.until(f"{THEIRS}.some((one) => one.includes('asks whether you agree'))")
    await page.until("document.querySelector('.path').innerText.includes('Needs the consent of Ben')")
    for size in (WIDE, MIDDLE, NARROW):
        await page.resize(size)
        assert await flaws(page) == [], size
    await page.resize(WIDE)
    of_ada = str(await page.evaluate(f"{said('phone')}.findLast((one) => one.includes('Needs Ben'))"))
    of_ben = str(await page.evaluate(f"{THEIRS}.findLast((one) => one.includes('asks whether you agree'))"))
    await _writes(page, f"OK {of_ben.partition(':')[0]}")
    await ask(page, "phone", f"OK {of_ada.partition(':')[0]}")
    await page.until(f"{THEIRS}.some((one) => one.includes('is done, as you and'))")
    await page.until(f"{said('phone')}.some((one) => one.includes('Approved {of_ada.partition(':')[0]}'))")
    await page.leave()


async def _add(page: Page, name: str) -> None:
    await page.click(".people .add-person")
    await page.type("#add-person [name=person-name]", name)
    await page.until(f"document.querySelector('.people').innerText.includes({name.split()[0]!r})")


async def test_two_who_must_agree_decide_each_on_their_own_channel(page: Page, own: RunningDev) -> None:
    await page.goto(f"{own.simulator_url}/#ada+ben")
    await page.until("document.querySelector('.second select').selectedOptions[0].innerText === 'Ben Lovelace'")
    await page.click(".second > header [role=tab]", "Slack")
    await page.type(".second .slack textarea", "what is 7 * 8?")
    his = "[...document.querySelectorAll('.second .slack .theirs .bubble')].map((one) => one.innerText)"
    await page.until(f"{his}.some((one) => one.includes('56'))")
    await ask(page, "phone", TO_TRY)
    await page.until(f"{his}.some((one) => one.includes('asks whether you agree'))")
    await page.until(f"{said('phone')}.some((one) => one.includes('Needs Ben'))")
    of_ada = str(await page.evaluate(f"{said('phone')}.findLast((one) => one.includes('Needs Ben'))"))
    await page.click(".second .slack .theirs button", "Approve")
    await page.until(f"{his}.some((one) => one.includes('Approved at'))")
    await ask(page, "phone", f"OK {of_ada.partition(':')[0]}")
    await page.until(f"{his}.some((one) => one.includes('is done, as you and'))")
    await page.leave()


async def _writes(page: Page, text: str) -> None:
    await page.type(".second .phone textarea", text)
    await page.until(
        f"[...document.querySelectorAll('.second .phone .mine .said')].some((one) => one.innerText === {text!r})"
    )
