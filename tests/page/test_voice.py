"""A voice note recorded in the browser, sent as each provider's app sends one, and a sticker."""

import pytest

from tests.page.chromium import Page
from tests.page.looks import flaws
from tests.page.talk import FIELDS
from workbench.simulator.app import Simulator

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev")]
PROVIDERS = {"phone": "twilio", "slack": "slack", "telegram": "telegram"}
REFUSED = (
    """navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("no", "NotAllowedError"); }; 0"""
)


@pytest.mark.parametrize("pane", FIELDS)
async def test_a_voice_note_is_recorded_heard_and_told_as_one(page: Page, simulator: Simulator, pane: str) -> None:
    await page.goto(simulator.url)
    if pane == "telegram":
        await page.click(".telegram .big", "START")
    await page.click(f".{pane} .voice")
    await page.until(f"document.querySelector('.{pane} .recording').innerText.includes('0:01')")
    await page.until(f"document.querySelector('.{pane} .recording').offsetHeight < 40")  # on one line
    assert await flaws(page) == []
    await page.click(f".{pane} .voice")
    await page.until(f"document.querySelector('.{pane} .chosen-file').innerText.includes('voice.ogg')")
    await page.evaluate(f"document.querySelector({FIELDS[pane]!r}).focus()")
    await page.press("Enter")
    # The browser reads the Ogg that was made of what it recorded.
    await page.until(f"document.querySelector('.{pane} .mine .bubble audio')?.duration >= 0.9")
    assert not await page.evaluate(f"document.querySelector('.{pane} .chosen-file').checkVisibility()")
    state = str(simulator.providers[PROVIDERS[pane]].state())
    assert "audio/ogg" in state
    told = str([call.request for call in simulator.wire.journal.calls(provider=PROVIDERS[pane])])
    assert {"phone": "audio/ogg", "slack": "slack_audio", "telegram": "'voice': {"}[pane] in told


async def test_a_recording_is_thrown_away_and_a_refused_microphone_is_said(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    await page.click(".slack .voice")
    await page.until("document.querySelector('.slack .recording').checkVisibility()")
    await page.click(".slack .recording button")
    await page.until("!document.querySelector('.slack .recording').checkVisibility()")
    assert not await page.evaluate("document.querySelector('.slack .chosen-file').checkVisibility()")
    await page.evaluate(REFUSED)
    await page.click(".slack .voice")
    await page.until("document.querySelector('.slack .problem').innerText.includes('may not use the microphone')")


async def test_a_sticker_is_sent_as_its_emoji(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    await page.click(".telegram .big", "START")
    await page.click(".telegram summary[aria-label='Send a sticker']")
    await page.until("document.querySelector('.stickers').checkVisibility()")
    inside = (
        "(() => { const pane = document.querySelector('#telegram').getBoundingClientRect();"
        " const box = document.querySelector('.stickers').getBoundingClientRect();"
        " return box.left >= pane.left && box.right <= pane.right; })()"
    )
    for size in ((1440, 900), (1366, 768), (1024, 768)):
        await page.resize(size)
        assert await page.evaluate(inside), size
    await page.click(".stickers button[aria-label='Heart']")
    await page.until("document.querySelector('.telegram .mine .sticker .icon-heart')")
    assert "❤️" in str(simulator.providers["telegram"].state())
    await page.until("!document.querySelector('.stickers').checkVisibility()")
