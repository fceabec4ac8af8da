"""A store with two people in it."""

import pytest

from tests.core.harness import Store


@pytest.fixture
async def store(store: Store) -> Store:
    """Return a store with the tenants `ann` and `bob`."""
    await store.admin.execute("insert into tenants (tenant_id) values ('ann'), ('bob')")
    return store
