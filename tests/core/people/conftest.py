"""A worker that takes commands, over a store of one's own."""

from collections.abc import AsyncIterator

import pytest

from tests.core.harness import Store, opened
from tests.core.people.harness import Harness


@pytest.fixture
async def harness(database_url: str) -> AsyncIterator[Harness]:
    """Yield a worker over an empty store."""
    async with opened(database_url) as store:
        yield Harness(store)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """Yield an empty store."""
    async with opened(database_url) as store:
        yield store
