"""A store that loses answers."""

from collections.abc import AsyncIterator

import pytest

from tests.core.harness import Store, TwiceDatabase, opened


@pytest.fixture
async def twice(database_url: str) -> AsyncIterator[Store]:
    """Yield an empty store that loses every answer once."""
    async with opened(database_url, TwiceDatabase(database_url)) as store:
        yield store
