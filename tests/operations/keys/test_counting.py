"""Counting the data keys by the secret key that wraps each, as `doctor` shows them."""

import asyncpg

from core.credentials.secret_keys import SecretKeys
from core.db.database import Database
from operations.keys.rotation import DataKeys, count_data_keys
from tests.core.credentials.harness import add_people, new_key, store_with


async def test_data_keys_are_counted_under_new_old_and_missing_keys(database_url: str) -> None:
    database, admin = Database(database_url), await asyncpg.connect(database_url)
    old, new, lost = new_key(), new_key(), new_key()
    await add_people(admin, "ann", "bob", "cy")
    for tenant, key in (("ann", old), ("bob", new), ("cy", lost)):
        await store_with(database, key).save(tenant, "mail", {"token": "t"})
    assert await count_data_keys(database, SecretKeys([new, old])) == DataKeys(1, 1, 1)
    await admin.close()
    await database.close()
