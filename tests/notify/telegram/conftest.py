from collections.abc import AsyncIterator

import pytest

from notify.telegram.send import TelegramNotification
from tests.simulator.telegram_harness import TOKEN, House, open_house


def make_sender(api_url: str, *, token: str = TOKEN, read_seconds: float = 20.0) -> TelegramNotification:
    return TelegramNotification(bot_token=token, api_url=api_url, connect_seconds=5.0, read_seconds=read_seconds)


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with open_house() as opened:
        await opened.act("start")
        yield opened


@pytest.fixture
async def telegram(house: House) -> AsyncIterator[TelegramNotification]:
    sender = make_sender(f"{house.url}/telegram")
    yield sender
    await sender.close()


@pytest.fixture
async def hasty(house: House) -> AsyncIterator[TelegramNotification]:
    """A sender that waits for no answer that hangs."""
    sender = make_sender(f"{house.url}/telegram", read_seconds=0.6)
    yield sender
    await sender.close()
