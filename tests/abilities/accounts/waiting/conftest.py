"""The system whose tools need accounts."""

from collections.abc import AsyncIterator

import pytest

from tests.abilities.accounts.waiting.harness import Needing, open_needing


@pytest.fixture
async def needing(database_url: str) -> AsyncIterator[Needing]:
    """Yield the system."""
    async with open_needing(database_url) as needing:
        yield needing
