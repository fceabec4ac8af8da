"""A person with an address book."""

from collections.abc import AsyncIterator

import pytest

from tests.abilities.contacts.house import House, open_house
from tests.servers.radicale import Radicale


@pytest.fixture
async def house(radicale: Radicale) -> AsyncIterator[House]:
    async with open_house(radicale) as opened:
        yield opened
