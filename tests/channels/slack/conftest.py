from collections.abc import AsyncIterator

import pytest

from tests.channels.memory_sink import MemorySink
from tests.channels.slack.builders import Gateway, make_channel, serve_channel


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    sink = MemorySink()
    async with serve_channel(make_channel(sink), sink) as served:
        yield served
