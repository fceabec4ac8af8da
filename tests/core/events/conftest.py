"""A database with two people in it."""

from collections.abc import AsyncIterator

import pytest

from tests.core.harness import Store, opened


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """Yield a store with the tenants `ann` and `bob`."""
    async with opened(database_url) as store:
        await store.admin.execute("insert into tenants (tenant_id) values ('ann'), ('bob')")
        yield store
