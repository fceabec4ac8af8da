"""`doctor --fix` sets the providers as they should be, and says what it changed."""

from collections.abc import AsyncIterator

import pytest

from channels.telegram.profile import profiles
from onevalet.settings import load_settings
from operations.doctor.repair import repair
from operations.doctor.types import Installation, State
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig, SystemClock

PUBLIC_URL = "https://valet.example.com"
CONFIG = SimulatorConfig(gateway_url="http://127.0.0.1:9", public_url=PUBLIC_URL, pace=0.01)


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    async with serve_simulator(CONFIG, SystemClock()) as served:
        yield served


def installation(simulator: Simulator, **changed: str) -> Installation:
    """Return an installation with all three channels on."""
    values = {
        "public_url": PUBLIC_URL,
        "twilio_account_sid": CONFIG.twilio.account_sid,
        "twilio_auth_token": CONFIG.twilio.auth_token,
        "twilio_from": CONFIG.twilio.number,
        "twilio_api_url": simulator.twilio_url,
        "slack_bot_token": CONFIG.slack.bot_token,
        "slack_signing_secret": CONFIG.slack.signing_secret,
        "slack_api_url": simulator.slack_url,
        "telegram_bot_token": CONFIG.telegram.bot_token,
        "telegram_webhook_secret": "s" * 32,
        "telegram_api_url": simulator.telegram_url,
    }
    return Installation(load_settings(_env_file=None, **values | changed))


async def test_webhooks_commands_and_menu_are_set_and_each_is_told(simulator: Simulator) -> None:
    done = await repair(installation(simulator))
    assert {finding.state for finding in done} == {State.GOOD}
    told = [f"{finding.what}: {finding.detail}" for finding in done]
    assert any(line.startswith(f"sms: fixed: SmsUrl: (nothing) -> {PUBLIC_URL}/webhooks/sms#") for line in told)
    assert f"telegram: fixed: webhook: (nothing) -> {PUBLIC_URL}/webhooks/telegram" in told
    assert sum(" commands" in line for line in told) == len(list(profiles()))
    assert not any(line.startswith("slack") for line in told), "a bot token may change nothing there"

    [nothing] = await repair(installation(simulator))
    assert (nothing.what, nothing.detail) == ("fixed", "nothing: the providers are set as they should be")


async def test_what_cannot_be_set_is_red_and_the_others_are_set(simulator: Simulator) -> None:
    done = await repair(installation(simulator, twilio_auth_token="0" * 32))
    [red] = [finding for finding in done if finding.state is State.RED]
    assert red.what == "sms: not fixed"
    assert "Twilio did not take the SMS webhooks" in red.detail
    assert any(finding.what == "telegram: fixed" for finding in done)
