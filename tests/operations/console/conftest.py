"""The console over a database of its own."""

from collections.abc import AsyncIterator

import pytest

from tests.core.harness import opened
from tests.operations.console.harness import Console, open_console


@pytest.fixture
async def console(database_url: str) -> AsyncIterator[Console]:
    """Yield the console with two people."""
    async with opened(database_url) as store, open_console(store) as console:
        yield console
