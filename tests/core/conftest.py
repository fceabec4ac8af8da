"""The store that these tests share."""

from collections.abc import AsyncIterator

import pytest

from tests.core.harness import Store, TwiceDatabase, opened


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """Yield an empty store."""
    async with opened(database_url) as store:
        yield store


@pytest.fixture
async def twice(database_url: str) -> AsyncIterator[Store]:
    """Yield an empty store whose every answer is lost once."""
    async with opened(database_url, TwiceDatabase(database_url)) as store:
        yield store
