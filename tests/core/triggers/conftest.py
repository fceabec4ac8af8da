"""The store that these tests share."""

from collections.abc import AsyncIterator

import pytest

from tests.core.harness import Store, opened
from tests.core.triggers.harness import Harness, make_harness


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """Yield an empty store."""
    async with opened(database_url) as store:
        yield store


@pytest.fixture
async def harness(store: Store) -> Harness:
    """Return an engine over a store with one person in it, whose clock stands still."""
    return await make_harness(store)
