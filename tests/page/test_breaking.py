"""Break it yourself: each button breaks something real, and every answer comes once all the same."""

import signal
from collections.abc import Iterator

import pytest

from tests.forker import Forker
from tests.page.chromium import NARROW, WIDE, Page
from tests.page.looks import flaws
from tests.page.talk import ask, begin, said
from tests.running_dev import RunningDev, running_dev

pytestmark = [pytest.mark.timeout(600, func_only=True), pytest.mark.xdist_group("own dev"), pytest.mark.slow]
LONG = 180.0
"""Seconds in which a killed process is back on a busy machine, and what it held is taken over."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Iterator[RunningDev]:
    """A `dev` that may be broken."""
    with running_dev(forker, tmp_path_factory.mktemp("breaking") / "home", signal.SIGINT) as dev:
        yield dev


@pytest.fixture
async def broken(page: Page, own: RunningDev) -> Page:
    """The page with the drawer open, and web and worker in processes of their own."""
    await page.goto(own.simulator_url)
    await begin(page)
    await page.click("#open-breaking")
    await page.until("document.querySelector('.parts [data-state]')")
    if not await page.evaluate("document.querySelector('[name=processes]').checked"):
        await page.click(".switch")
    for part in ("worker", "web"):
        await _runs(page, part)
    return page


async def test_drawers_lie_beneath_the_bar_and_escape_closes_them(page: Page, own: RunningDev) -> None:
    await page.goto(own.simulator_url)
    await begin(page)
    for size in (WIDE, NARROW):
        await page.resize(size)
        for name in ("breaking", "scenarios"):
            drawer = f"document.querySelector('#{name}')"
            if size is NARROW:
                await page.click("#open-more")
            await page.click(f"#open-{name}")
            bottom = "document.querySelector('.bar').getBoundingClientRect().bottom"
            await page.until(f"{drawer}.querySelector('.parts li, .scenarios li')")
            assert await page.evaluate(f"{drawer}.getBoundingClientRect().top >= {bottom}"), (name, size)
            if size is WIDE and name == "breaking":
                assert await page.evaluate(f"{drawer}.scrollHeight <= {drawer}.clientHeight"), "nothing is cut off"
            if size is WIDE and name == "breaking":
                await page.click("#open-scenarios")
                await page.until(f"!{drawer}.open && document.querySelector('#scenarios').open")
                await page.click("#open-breaking")
                await page.until(f"{drawer}.open && !document.querySelector('#scenarios').open")
            if size is WIDE:
                assert await flaws(page) == []
                await page.click("#open-help")  # the bar can be used meanwhile
                await page.press("Escape")
                await page.until("!document.querySelector('#help').open")
            await page.press("Escape")
            await page.until(f"!{drawer}.open")


async def test_killing_web_gives_it_a_process_first_and_tells_how_that_goes(page: Page, own: RunningDev) -> None:
    await page.goto(own.simulator_url)
    await begin(page)
    await page.click("#open-breaking")
    await page.until("document.querySelector('.parts [data-state]')")
    assert not await page.evaluate("document.querySelector('[name=processes]').checked")
    await page.click(".breaks button", "Kill web")
    progress = "document.querySelector('#breaking [role=status]').textContent"
    await page.until(f"{progress}.includes('processes of their own …')")
    await page.until(f"/ [0-9]+ s$/.test({progress})")
    await page.until("document.querySelector('.parts').innerText.includes('started again 1 time')", LONG)
    assert await page.evaluate(f"{progress} === '' && document.querySelector('[name=processes]').checked")


async def test_a_turn_goes_on_when_its_worker_is_killed(broken: Page) -> None:
    await _press(broken, "Model hangs")
    await ask(broken, "telegram", "What is 6 * 7?")
    path = "document.querySelector('.path').textContent"
    await broken.until(f"{path}.includes('What is 6 * 7?') && {path}.includes('going on')", LONG)
    await _press(broken, "Kill the worker")
    await broken.until("document.querySelector('.parts li').innerText.includes('started again 1 time')", LONG)
    await _press(broken, "Model is well again")
    await _answered_once(broken, "telegram", "42")
    await broken.until("document.querySelector('.path .figures').innerText.includes('Attempts')", LONG)
    assert await flaws(broken) == []


async def test_what_is_written_while_web_is_dead_is_answered(broken: Page) -> None:
    await _press(broken, "Kill web")
    await ask(broken, "telegram", "What is 7 * 7?")
    await _answered_once(broken, "telegram", "49")


async def test_what_is_written_without_postgres_is_answered(broken: Page) -> None:
    await _press(broken, "Stop Postgres")
    await ask(broken, "telegram", "What is 8 * 7?")
    await _answered_once(broken, "telegram", "56")


async def test_what_is_written_beside_an_emptied_redis_is_answered(broken: Page) -> None:
    await _press(broken, "Flush Redis")
    await ask(broken, "slack", "What is 9 * 7?")
    await _answered_once(broken, "slack", "63")


@pytest.mark.parametrize(("button", "factor"), [("Fails", 11), ("Is slow", 12), ("Loses its answer", 13)])
async def test_providers_in_trouble_get_every_answer_to_people_once(broken: Page, button: str, factor: int) -> None:
    await _press(broken, button)
    for pane in ("phone", "slack", "telegram"):
        await ask(broken, pane, f"What is {factor} * 7?")
    for pane in ("phone", "slack", "telegram"):
        await _answered_once(broken, pane, str(factor * 7))


async def test_a_failing_model_is_asked_again_when_it_is_well(broken: Page) -> None:
    await _press(broken, "Model fails")
    await ask(broken, "slack", "What is 14 * 7?")
    await broken.until("document.querySelector('.path').innerText.includes('No model answers')", LONG)
    await _press(broken, "Model is well again")
    await _answered_once(broken, "slack", "98")


async def test_a_hanging_model_holds_nobody_else_up_and_answers_once_it_is_well(broken: Page) -> None:
    await _press(broken, "Model hangs")
    await ask(broken, "slack", "What is 15 * 7?")
    await broken.until("document.querySelector('.path').innerText.includes('going on')", LONG)
    # What needs no model is answered meanwhile, in another chat.
    before = await broken.evaluate(f"{said('phone')}.length")
    await ask(broken, "phone", "PENDING")
    await broken.until(f"{said('phone')}.length > {before}", LONG)
    assert not await broken.evaluate(f"{said('slack')}.some((one) => one.includes('105'))")
    await _press(broken, "Model is well again")
    await _answered_once(broken, "slack", "105")


async def _press(page: Page, button: str) -> None:
    await page.click(".breaks button:enabled", button)


async def _runs(page: Page, part: str) -> None:
    await page.until(
        "[...document.querySelectorAll('.parts li')]"
        f".some((one) => one.innerText.startsWith({part!r}) && one.dataset.state === 'running')",
        LONG,
    )


async def _answered_once(page: Page, pane: str, words: str) -> None:
    """Wait for the answer, and until nothing is under way; then it was said once, and nothing was lost or doubled."""
    final = said(pane).replace(".theirs", ".theirs:not(.is-draft, .is-streaming)")
    answers = f"{final}.filter((one) => one.includes({words!r}))"
    await page.until(f"{answers}.length", LONG)
    await page.until("document.querySelector('.counts .waiting')?.dataset.count === '0'", LONG)
    for count in ("lost", "doubled"):
        await page.until(f"document.querySelector('.counts .{count}').dataset.count === '0'", LONG)
    assert await page.evaluate(f"{answers}.length") == 1
