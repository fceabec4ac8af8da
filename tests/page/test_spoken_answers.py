"""Spoken answers on the page, in headless Chromium: each pane shows and plays them, at a desk and on a phone."""

from pathlib import Path

import pytest

from core.messaging.channels import NotificationChannel, Target
from core.messaging.files import OutgoingFile
from core.messaging.messages import Address, OutboundKind, OutboundMessage
from notify.slack.send import SlackNotification
from notify.sms.send import SmsNotification
from notify.telegram.send import TelegramNotification
from providers.models.silent_speech import recorded
from tests.page.chromium import NARROW, WIDE, Page
from tests.page.gateway import ScriptedGateway
from tests.page.looks import flaws
from workbench.simulator.app import Simulator

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300, func_only=True), pytest.mark.xdist_group("dev")]
DRAWN_TWICE = """import('/page/dom.js').then(({ h, sync }) => {
    const list = document.body.appendChild(h("ul"));
    const build = ({ sound, state }) => h("li", {}, h("audio", { src: sound }), state);
    const draw = (...items) => sync(list, items, ({ id }) => id, build);
    draw({ id: 1, sound: "/a", state: "queued" }, { id: 2, sound: "/b", state: "queued" });
    const [a, b] = list.querySelectorAll("audio");
    draw({ id: 1, sound: "/a", state: "delivered" }, { id: 2, sound: "/c", state: "delivered" });
    const [first, second] = list.querySelectorAll("audio");
    return [first === a, second === b, list.innerText.includes("queued")];
})"""
"""Draws two messages with a sound once more: one keeps its sound, the other gets another."""
WORDS = "The dentist is at nine, and lunch with Grace is at one."
SECONDS = len(WORDS) / 14


async def speak(simulator: Simulator, gateway: ScriptedGateway, pane: str) -> None:
    """Send a spoken answer over our own channel, as the outbox does."""
    sound, kind = ("opus", "audio/ogg") if pane == "telegram" else ("mp3", "audio/mpeg")
    body, name = recorded(WORDS, sound), f"answer.{'ogg' if sound == 'opus' else 'mp3'}"
    gateway.files[name] = body, kind
    file = OutgoingFile("f1", name, kind, len(body), f"{simulator.wire.public_url}/files/{name}")
    sender, to = sender_of(simulator, pane)
    [part] = sender.render(OutboundMessage("out_1", OutboundKind.RECEIPT, "", files=(file,)))

    async def read(_: str) -> bytes:
        return body

    try:
        await sender.send(part, Target(to, "ref", read_file=read))
    finally:
        await sender.close()


def sender_of(simulator: Simulator, pane: str) -> tuple[NotificationChannel, Address]:
    """Return our side of a pane, and Ada's address there."""
    config = simulator.wire.config
    ada, twilio = config.people[0], config.twilio
    if pane == "phone":
        sms = SmsNotification(
            account_sid=twilio.account_sid,
            auth_token=twilio.auth_token,
            sender=twilio.number,
            public_url=simulator.wire.public_url,
            api_url=simulator.twilio_url,
        )
        return sms.with_mms(("US",)), Address("sms", twilio.number, ada.phone)
    if pane == "telegram":
        bot = TelegramNotification(bot_token=config.telegram.bot_token, api_url=simulator.telegram_url)
        return bot, Address("telegram", str(config.telegram.bot_id), str(ada.telegram_user))
    app = SlackNotification(bot_token=config.slack.bot_token, api_url=simulator.slack_url)
    channel = simulator.providers["slack"].state()["people"]["ada"]["channel"]  # type: ignore[index, call-overload]
    return app, Address("slack", config.slack.team_id, str(channel))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("pane", ["phone", "slack", "telegram"])
async def test_a_spoken_answer_is_played(
    page: Page, simulator: Simulator, gateway: ScriptedGateway, tmp_path: Path, pane: str, size: tuple[int, int]
) -> None:
    await page.resize(size)
    await page.goto(simulator.url)
    if size == NARROW:
        await page.click(".tabs button", pane.capitalize())
    if pane == "telegram":
        await page.click(".telegram .big", "START")
    await speak(simulator, gateway, pane)
    player = f"document.querySelector('.{pane} .theirs audio')"
    # Of an Ogg file a browser knows the length once it is played to its end.
    await page.until(f"{player}?.readyState >= 3 && {player}.duration > {SECONDS - 0.2}")
    assert await page.evaluate(f"{player}.checkVisibility()")
    await page.evaluate(f"{player}.muted = true; {player}.play(); 0")
    await page.until(f"{player}.currentTime > 0.2")
    await page.screenshot(tmp_path / f"{pane}.png")
    assert page.problems == []
    assert await flaws(page) == []


async def test_a_sound_goes_on_when_its_message_is_drawn_again(page: Page, simulator: Simulator) -> None:
    await page.goto(simulator.url)
    assert await page.evaluate(DRAWN_TWICE) == [True, False, False]
