"""The store that these tests share."""

from collections.abc import AsyncIterator

import pytest

from tests.core.harness import Store, opened


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """Yield an empty store."""
    async with opened(database_url) as store:
        yield store
