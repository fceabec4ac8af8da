"""Spoken answers on the page, in headless Chromium: each pane shows and plays them, at a desk and on a phone."""

from pathlib import Path

import pytest

from core.messaging.channels import Target, file_part
from core.messaging.files import OutgoingFile
from core.messaging.messages import Address
from notify.slack.send import SlackNotification
from notify.telegram.send import TelegramNotification
from onevalet.testing.scripted_speech import recorded
from tests.page.chromium import NARROW, WIDE, Page
from tests.page.gateway import ScriptedGateway
from tests.page.looks import flaws
from workbench.simulator.app import Simulator

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev")]
WORDS = "The dentist is at nine, and lunch with Grace is at one."
SECONDS = len(WORDS) / 14


async def speak(simulator: Simulator, pane: str) -> None:
    """Send a spoken answer over our own channel, as the outbox does."""
    sound, kind = ("opus", "audio/ogg") if pane == "telegram" else ("mp3", "audio/mpeg")
    body = recorded(WORDS, sound)
    file = OutgoingFile("f1", f"Spoken answer 1.{'ogg' if sound == 'opus' else 'mp3'}", kind, len(body))

    async def read(_: str) -> bytes:
        return body

    config = simulator.wire.config
    ada = config.people[0]
    if pane == "telegram":
        bot = TelegramNotification(bot_token=config.telegram.bot_token, api_url=simulator.telegram_url)
        to = Address("telegram", str(config.telegram.bot_id), str(ada.telegram_user))
        await bot.send(file_part(file), Target(to, "ref", read_file=read))
        await bot.close()
        return
    app = SlackNotification(bot_token=config.slack.bot_token, api_url=simulator.slack_url)
    state = simulator.providers["slack"].state()
    channel = state["people"]["ada"]["channel"]  # type: ignore[index, call-overload]
    to = Address("slack", config.slack.team_id, str(channel))
    await app.send(file_part(file), Target(to, "ref", read_file=read))
    await app.close()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("pane", ["slack", "telegram"])
async def test_a_spoken_answer_is_played(
    page: Page, simulator: Simulator, gateway: ScriptedGateway, tmp_path: Path, pane: str, size: tuple[int, int]
) -> None:
    await page.resize(size)
    await page.goto(simulator.url)
    if size == NARROW:
        await page.click(".tabs button", pane.capitalize())
    if pane == "telegram":
        await page.click(".telegram .big", "START")
    await speak(simulator, pane)
    player = f"document.querySelector('.{pane} .theirs audio')"
    # Of an Ogg file a browser knows the length once it is played to its end.
    await page.until(f"{player}?.readyState >= 3 && {player}.duration > {SECONDS - 0.2}")
    assert await page.evaluate(f"{player}.checkVisibility()")
    await page.evaluate(f"{player}.muted = true; {player}.play(); 0")
    await page.until(f"{player}.currentTime > 0.2")
    await page.screenshot(tmp_path / f"{pane}.png")
    assert page.problems == []
    assert await flaws(page) == []
