"""What was sealed under a lost secret key: found, and discarded with all that hangs on it."""

import asyncpg
import pytest

from core.credentials.secret_keys import SecretKey, SecretKeys
from core.db.database import Database
from operations.keys.lost import discard_lost, find_lost
from operations.keys.rotation import rotate_keys
from tests.core.credentials.harness import new_key, store_with

type Admin = asyncpg.Connection[asyncpg.Record]


@pytest.mark.parametrize("with_keys", [True, False], ids=["another key", "no key"])
async def test_what_nothing_opens_is_discarded_and_can_be_connected_again(
    database: Database, admin: Admin, key: SecretKey, *, with_keys: bool
) -> None:
    lost_key = new_key()
    lost, kept = store_with(database, lost_key), store_with(database, key)
    await lost.save("ann", "google", {"of": "ann"})
    await lost.save("ann", "email", {"of": "ann"}, "work")
    if with_keys:
        await kept.save("bob", "google", {"of": "bob"})
    await admin.execute(
        "insert into event_sources (tenant_id, id, name, style, key_version, sealed)"
        " values ('ann', 'es_1', 'shop', 'hmac', 1, '')"
    )
    keys = SecretKeys([key]) if with_keys else None
    found = await find_lost(database, keys)
    assert found.rows == ("email work of ann", "event source shop of ann", "google primary of ann")
    assert found.some_open == with_keys
    assert await discard_lost(database, keys) == found
    assert await admin.fetchval("select count(*) from credentials where tenant_id = 'ann'") == 0
    assert await admin.fetchval("select count(*) from event_sources") == 0
    assert not (await find_lost(database, keys)).keys
    await kept.save("ann", "google", {"of": "ann, again"})
    assert await kept.get("ann", "google") == {"of": "ann, again"}
    if with_keys:
        assert await kept.get("bob", "google") == {"of": "bob"}


async def test_a_key_that_was_wrapped_again_meanwhile_is_not_discarded(
    database: Database, admin: Admin, key: SecretKey
) -> None:
    old = new_key()
    await store_with(database, old).save("ann", "google", {"of": "ann"})
    await rotate_keys(database, SecretKeys([key, old]))
    await database.rows("select discard_data_key($1,$2,$3)", "ann", 1, old.id)
    assert await store_with(database, key).get("ann", "google") == {"of": "ann"}
