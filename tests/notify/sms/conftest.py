"""Twilio as emulated, and the sender that speaks to it through the official SDK."""

from collections.abc import AsyncIterator

import pytest

from notify.sms.send import SmsNotification
from workbench.simulator.app import Simulator, serve_simulator
from workbench.simulator.config import SimulatorConfig, SystemClock, TwilioConfig

SERVICE = "MG" + "e" * 32
TWILIO = TwilioConfig(services=((SERVICE, ("+14155550100",)), ("MG" + "f" * 32, ())))
PUBLIC_URL = "https://valet.example.com"


def make_sender(
    api_url: str, *, sender: str = TWILIO.number, token: str = TWILIO.auth_token, total_seconds: float = 20.0
) -> SmsNotification:
    return SmsNotification(
        account_sid=TWILIO.account_sid,
        auth_token=token,
        sender=sender,
        public_url=PUBLIC_URL,
        api_url=api_url,
        connect_seconds=5.0,
        total_seconds=total_seconds,
    )


@pytest.fixture
async def simulator() -> AsyncIterator[Simulator]:
    config = SimulatorConfig(gateway_url="http://127.0.0.1:9", public_url=PUBLIC_URL, twilio=TWILIO, pace=0.01)
    async with serve_simulator(config, SystemClock()) as served:
        yield served


@pytest.fixture
async def sms(simulator: Simulator) -> AsyncIterator[SmsNotification]:
    sender = make_sender(simulator.twilio_url)
    yield sender
    await sender.close()


@pytest.fixture
async def hasty(simulator: Simulator) -> AsyncIterator[SmsNotification]:
    """A sender that waits for no answer that hangs."""
    sender = make_sender(simulator.twilio_url, total_seconds=0.6)
    yield sender
    await sender.close()
