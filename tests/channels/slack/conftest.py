from collections.abc import AsyncIterator

import pytest

from tests.channels.slack.builders import Gateway, MemorySink, make_channel, serve_channel


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    sink = MemorySink()
    async with serve_channel(make_channel(sink), sink) as served:
        yield served
