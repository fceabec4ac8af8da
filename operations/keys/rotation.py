"""`keys rotate`: wrap every tenant's data key under the newest secret key.

Each data key is a step of its own, written only if it has not changed since it was read: a rotation that is killed,
or run twice at once, loses nothing, and processes with both secret keys go on reading and writing.
"""

from dataclasses import dataclass

import asyncpg
import structlog

from core.credentials.encryption import wrap
from core.credentials.secret_keys import SecretKeys
from core.credentials.store import CredentialsSealed, unwrap_data_key
from core.db.database import Database

AT_ONCE = 100
"""Data keys read at a time."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Rotated:
    """How many data keys were wrapped again, and how many none of our secret keys opened."""

    rewrapped: int
    unopened: int


@dataclass(frozen=True, slots=True)
class DataKeys:
    """Numbers of data keys wrapped under our newest secret key, under older keys, and under unknown keys."""

    newest: int
    older: int
    unopened: int


async def count_data_keys(database: Database, keys: SecretKeys) -> DataKeys:
    """Count the data keys by trying each; nothing is changed."""
    newest = older = unopened = 0
    after: tuple[str, int] = ("", 0)
    while rows := await database.rows("select * from find_data_keys($1,$2,$3,$4)", "", *after, AT_ONCE):
        for row in rows:
            after = (row["tenant_id"], row["version"])
            data_key = await database.call("select * from read_data_key($1,$2)", *after)
            if data_key is None:
                continue
            try:
                unwrap_data_key(keys, after[0], data_key)
            except CredentialsSealed:
                unopened += 1
            else:
                newest += data_key["secret_key_id"] == keys.newest.id
                older += data_key["secret_key_id"] != keys.newest.id
    return DataKeys(newest, older, unopened)


async def rotate_keys(database: Database, keys: SecretKeys) -> Rotated:
    """Wrap under the newest secret key those data keys that are wrapped under another key."""
    rewrapped = unopened = 0
    after: tuple[str, int] = ("", 0)
    while rows := await _find(database, keys, after):
        for row in rows:
            after = (row["tenant_id"], row["version"])
            try:
                await _rewrap(database, keys, *after)
                rewrapped += 1
            except CredentialsSealed:  # logged by `unwrap_data_key`
                unopened += 1
    _log.info("keys_rotated", rewrapped=rewrapped, unopened=unopened)
    return Rotated(rewrapped, unopened)


async def _find(database: Database, keys: SecretKeys, after: tuple[str, int]) -> list[asyncpg.Record]:
    return await database.rows("select * from find_data_keys($1,$2,$3,$4)", keys.newest.id, *after, AT_ONCE)


async def _rewrap(database: Database, keys: SecretKeys, tenant_id: str, version: int) -> None:
    row = await database.call("select * from read_data_key($1,$2)", tenant_id, version)
    if row is None:
        return  # the tenant was deleted since the key was found
    wrapped = wrap(keys.newest, unwrap_data_key(keys, tenant_id, row), tenant_id, version)
    # Unless somebody else has replaced it since it was read.
    await database.repeat(
        tenant_id,
        "update data_keys set secret_key_id = $4, wrapped = $5"
        " where tenant_id = $1 and version = $2 and secret_key_id = $3",
        version,
        row["secret_key_id"],
        keys.newest.id,
        wrapped,
    )
