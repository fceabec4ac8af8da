"""An installation with two people, in a database that the backup's reader owns without being a superuser."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.core.harness import Store
from tests.operations.backups.harness import Backups, Target, new_database
from tests.operations.tenants.harness import Installation
from tests.services import RunServices


@pytest.fixture
async def backups(store: Store, tmp_path: Path) -> Backups:
    """Return an installation where Ann and Bob have rows in every table, and what backs it up."""
    made = Installation(store, tmp_path)
    await made.fill()
    return Backups(made)


@pytest.fixture
async def target(services: RunServices, worker_number: int, tmp_path: Path) -> AsyncIterator[Target]:
    """Yield an empty database and an empty folder of files."""
    async with new_database(services, f"restored_{worker_number}") as url:
        yield Target(url, tmp_path / "restored", services.on_database(f"restored_{worker_number}"))
