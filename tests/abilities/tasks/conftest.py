"""A trigger engine on a store."""

import pytest

from tests.abilities.tasks.harness import Harness, make_harness
from tests.core.harness import Store


@pytest.fixture
async def harness(store: Store) -> Harness:
    """Return an engine over a store with one person in it, whose clock stands still."""
    return await make_harness(store)
