from collections.abc import AsyncIterator

import pytest

from tests.channels.telegram.builders import Gateway, MemorySink, make_channel, serve_channel
from tests.simulator.telegram_harness import House, open_house


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    sink = MemorySink()
    async with serve_channel(make_channel(sink), sink) as served:
        yield served


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with open_house() as opened:
        yield opened
