"""A store with two people in it, and access to their accounts."""

import asyncpg
import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services
from core.credentials.store import CredentialStore
from core.db.database import Database
from tests.core.credentials.conftest import admin as admin
from tests.core.credentials.conftest import database as database
from tests.core.credentials.conftest import key as key
from tests.core.credentials.conftest import store as store

__all__ = ["admin", "database", "key", "store"]

type Admin = asyncpg.Connection[asyncpg.Record]


@pytest.fixture
def accounts(store: CredentialStore, database: Database) -> Accounts:
    """Return access to the accounts of Ann and Bob."""
    return Accounts(store, Services.of())
