"""The fixtures of memory's tests."""

from collections.abc import AsyncIterator

import pytest

from abilities.memory.momex import Momex
from core.db.database import Database
from tests.abilities.memory.harness import make_momex, make_person
from tests.operations.console.conftest import console as console
from tests.operations.programs.conftest import settings as settings


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """Yield a database, as the application role."""
    database = Database(database_url, patience=5, size=5)
    yield database
    await database.close()


@pytest.fixture
async def momex(database: Database) -> AsyncIterator[Momex]:
    """Yield a memory with two retrievers, and Ann, whose it is."""
    await make_person(database, "ann")
    momex = make_momex(database)
    yield momex
    await momex.close()


@pytest.fixture
async def indexed(database: Database) -> AsyncIterator[Momex]:
    """Yield a memory with all three retrievers; loads typeagent, so whoever uses it is in one group of the run."""
    await make_person(database, "ann")
    momex = make_momex(database, structured=True)
    yield momex
    await momex.close()
