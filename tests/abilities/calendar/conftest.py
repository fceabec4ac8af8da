"""A person with calendars."""

from collections.abc import AsyncIterator

import pytest

from tests.abilities.calendar.house import House, open_house
from tests.servers.radicale import Radicale


@pytest.fixture
async def house(radicale: Radicale) -> AsyncIterator[House]:
    async with open_house(radicale) as opened:
        yield opened
