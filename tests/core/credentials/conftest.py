"""A database with two people in it, an admin connection that no row policy limits, and a secret key."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from core.credentials.secret_keys import SecretKey
from core.credentials.store import CredentialStore
from core.db.database import Database
from tests.core.credentials.harness import add_people, new_key, store_with


@pytest.fixture
async def admin(database_url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """Yield a superuser's connection to a database with Ann and Bob in it."""
    connection = await asyncpg.connect(database_url)
    await add_people(connection, "ann", "bob")
    yield connection
    await connection.close()


@pytest.fixture
async def database(database_url: str, admin: object) -> AsyncIterator[Database]:
    """Yield the database as the application's role sees it."""
    database = Database(database_url)
    yield database
    await database.close()


@pytest.fixture
def key() -> SecretKey:
    """Return a secret key."""
    return new_key()


@pytest.fixture
def store(database: Database, key: SecretKey) -> CredentialStore:
    """Return a store under that key."""
    return store_with(database, key)
