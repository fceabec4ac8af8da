from collections.abc import AsyncIterator

import pytest

from tests.channels.memory_sink import MemorySink
from tests.channels.telegram.builders import Gateway, make_channel, serve_channel
from tests.workbench.simulator.telegram_harness import Harness, open_harness


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    sink = MemorySink()
    async with serve_channel(make_channel(sink), sink) as served:
        yield served


@pytest.fixture
async def harness() -> AsyncIterator[Harness]:
    async with open_harness() as opened:
        yield opened
