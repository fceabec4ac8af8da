"""What the demo model does in words, on the page: EDIT, what it remembers and forgets, and other languages."""

import pytest

from tests.page.chromium import Page
from tests.page.talk import ask, said
from tests.running_dev import RunningDev

pytestmark = [pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev"), pytest.mark.slow]
CODE = r"/OK ([0-9A-Z]{2}) to approve/.exec"


async def test_a_card_is_changed_in_words_and_then_approved(page: Page, dev: RunningDev) -> None:
    await page.goto(dev.simulator_url)
    await _answered(page, "Email mia@example.com that I am late", "Send an email to mia@example.com")
    changed = f"EDIT {await _code(page)} make the subject Running late"
    await _answered(page, changed, "Subject: I am late -> Running late")
    await _answered(page, f"OK {await _code(page)}", "Sent to mia@example.com")
    await page.leave()


async def test_it_remembers_tells_what_it_knows_and_forgets_with_consent(page: Page, dev: RunningDev) -> None:
    await page.goto(dev.simulator_url)
    await _answered(page, "Remember that my sister is called Ottilie", "my sister is called Ottilie")
    await _answered(page, "What do you know about me?", "my sister is called Ottilie")
    await _answered(page, "Forget that my sister is called Ottilie", "Forget for good")
    await ask(page, "phone", f"OK {await _code(page)}")
    # What is done about a consent is said when it is done.
    await page.until(f"!/Forget for good/.test({said('phone')}.at(-1))")
    await _answered(page, "What is 6 * 8?", "48")
    await _answered(page, "What do you know about me?", "(demo model)")
    assert "Ottilie" not in await page.evaluate(f"{said('phone')}.at(-1)")
    await page.leave()


async def test_another_language_is_told_that_it_knows_english_only(page: Page, dev: RunningDev) -> None:
    await page.goto(dev.simulator_url)
    await _answered(page, "What is 6 * 9?", "54")
    await _answered(page, "Wie geht es dir?", "I know only a few English phrases")
    # The next tests on this `dev` read English.
    await _answered(page, "Please tell me what you can do for me today", "demo model")
    await page.leave()


async def _answered(page: Page, text: str, words: str) -> None:
    before = await page.evaluate(f"{said('phone')}.length")
    await ask(page, "phone", text)
    await page.until(f"{said('phone')}.slice({before}).some((one) => one.includes({words!r}))")


async def _code(page: Page) -> str:
    return str(await page.evaluate(f"{CODE}({said('phone')}.at(-1))[1]"))
