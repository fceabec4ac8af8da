from collections.abc import AsyncIterator

import pytest

from notify.telegram.send import TelegramNotification
from tests.workbench.simulator.telegram_harness import TOKEN, Harness, open_harness


def make_sender(api_url: str, *, token: str = TOKEN, read_seconds: float = 20.0) -> TelegramNotification:
    return TelegramNotification(bot_token=token, api_url=api_url, connect_seconds=5.0, read_seconds=read_seconds)


@pytest.fixture
async def harness() -> AsyncIterator[Harness]:
    async with open_harness() as opened:
        await opened.act("start")
        yield opened


@pytest.fixture
async def telegram(harness: Harness) -> AsyncIterator[TelegramNotification]:
    sender = make_sender(f"{harness.url}/telegram")
    yield sender
    await sender.close()


@pytest.fixture
async def hasty(harness: Harness) -> AsyncIterator[TelegramNotification]:
    """A sender that waits for no answer that hangs."""
    sender = make_sender(f"{harness.url}/telegram", read_seconds=0.6)
    yield sender
    await sender.close()
