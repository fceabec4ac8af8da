"""An installation with two people."""

from pathlib import Path

import pytest

from tests.core.harness import Store
from tests.operations.tenants.harness import Installation


@pytest.fixture
async def installation(store: Store, tmp_path: Path) -> Installation:
    """Return an installation where Ann and Bob have rows in every table."""
    made = Installation(store, tmp_path)
    await made.fill()
    return made
