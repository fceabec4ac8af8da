"""A worker that takes commands."""

import pytest

from tests.core.harness import Store
from tests.core.people.harness import Harness


@pytest.fixture
def harness(store: Store) -> Harness:
    """Return a worker over an empty store."""
    return Harness(store)
