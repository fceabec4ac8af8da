"""Secret keys, and people who have credentials."""

import base64
import os

import asyncpg

from core.credentials.secret_keys import SecretKey, SecretKeys, read_secret_key
from core.credentials.store import CredentialStore
from core.db.database import Database

KEYS_TEXT = base64.b64encode(bytes(32)).decode()
KEYS = SecretKeys.from_text(KEYS_TEXT)
"""Those of a test in which several parts prove each other's tokens."""


def new_key() -> SecretKey:
    """Make a secret key."""
    return read_secret_key(new_key_text())


def new_key_text() -> str:
    """Make a secret key as an operator writes it."""
    return base64.b64encode(os.urandom(32)).decode()


def store_with(database: Database, *keys: SecretKey) -> CredentialStore:
    """Return a store that works with these keys, newest first."""
    return CredentialStore(database, SecretKeys(keys))


async def add_people(admin: "asyncpg.Connection[asyncpg.Record]", *tenants: str) -> None:
    """Create these tenants."""
    await admin.executemany("insert into tenants (tenant_id) values ($1)", [(tenant,) for tenant in tenants])
