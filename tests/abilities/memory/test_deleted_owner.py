"""A shared memory outlives its owner as long as somebody else shares it."""

import pytest

from abilities.memory.shared_collections import SharedCollections
from tests.operations.tenants.conftest import installation as installation
from tests.operations.tenants.harness import Installation


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "alone"])
async def test_a_deleted_owners_shared_memory_goes_to_another_member(installation: Installation, shared: bool) -> None:
    store = installation.store
    collections = SharedCollections(store.database, store.make_id)
    memory = await collections.make(installation.ann, "kitchen")
    if shared:
        assert await collections.let_in(installation.ann, "kitchen", installation.bob)
    assert await installation.delete() is not None
    owners = await store.db.memory_members.column("tenant_id", shared_id=memory, role="owner")
    kept = await store.db.tenants.count(tenant_id=memory)
    assert (owners, kept) == (([installation.bob], 1) if shared else ([], 0))
    names = await collections.names(installation.bob)
    names.pop("household:ours")
    assert names == ({"home": "c", "kitchen": memory} if shared else {"home": "c"})
