"""A worker that takes commands, over a store of one's own."""

from collections.abc import AsyncIterator

import pytest

from tests.core.harness import Store, opened
from tests.core.people.harness import House


@pytest.fixture
async def house(database_url: str) -> AsyncIterator[House]:
    """Give a worker over an empty store."""
    async with opened(database_url) as store:
        yield House(store)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """Give an empty store."""
    async with opened(database_url) as store:
        yield store
