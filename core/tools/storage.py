"""The values that tools store for a person, in Postgres: each under its tenant, collection and key."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from core.db.database import Database
from core.errors import ToolFailed
from core.json_types import Json, storable
from core.tools.context import StoredValue

MAX_NAME = 200
"""Characters of a collection's name, and of a key."""
MAX_VALUE = 100_000
"""Characters of a value, as JSON."""


def stored_with(service: str, account_name: str) -> str:
    """Return the name of the collection for values read from an account: it goes when the account is disconnected."""
    return f"account {service}:{account_name}"[:MAX_NAME]


@dataclass(frozen=True, slots=True)
class Storage:
    """The stored values of all tenants; hands out those of a tenant at a time."""

    database: Database

    def for_tenant(self, tenant_id: str) -> "PostgresStorage":
        return PostgresStorage(self.database, tenant_id)


@dataclass(frozen=True, slots=True)
class PostgresStorage:
    """The stored values of a tenant. Implements `core.tools.context.TenantStorage`."""

    database: Database
    tenant_id: str

    async def get(self, collection: str, key: str) -> StoredValue | None:
        rows = await self._read(collection, _name(key))
        return rows[0] if rows else None

    async def put(self, collection: str, key: str, value: Json) -> StoredValue:
        kept = _value(value)
        name, key = _name(collection), _name(key)
        statement = "select put_value($1,$2,$3,coalesce($4::jsonb,'null')) as number"
        rows = await self.database.rows(statement, self.tenant_id, name, key, kept)
        return StoredValue(key, rows[0]["number"], kept)

    async def swap(self, collection: str, key: str, value: Json, was: Json) -> bool:
        statement = "select swap_value($1,$2,$3,coalesce($4::jsonb,'null'),$5::jsonb) as swapped"
        given = (self.tenant_id, _name(collection), _name(key), _value(value), storable(was))
        return bool((await self.database.rows(statement, *given))[0]["swapped"])

    async def list(self, collection: str) -> Sequence[StoredValue]:
        return await self._read(collection, None)

    async def delete(self, collection: str, key: str) -> None:
        await self.database.rows("select delete_value($1,$2,$3)", self.tenant_id, _name(collection), _name(key))

    async def _read(self, collection: str, key: str | None) -> Sequence[StoredValue]:
        rows = await self.database.rows("select * from read_values($1,$2,$3)", self.tenant_id, _name(collection), key)
        return [StoredValue(row["key"], row["number"], row["value"]) for row in rows]


def _value(value: Json) -> Json:
    """Check a value's length."""
    kept: Json = storable(value)
    if len(json.dumps(kept, ensure_ascii=False)) > MAX_VALUE:
        raise ToolFailed("That is too much to be kept in one piece.")
    return kept


def _name(name: str) -> str:
    """Check the name of a collection, or a key, before Postgres refuses it."""
    clean = storable(name)
    if not 1 <= len(clean) <= MAX_NAME:
        raise ToolFailed(f"A collection's name and a key have 1 to {MAX_NAME} characters.")
    return clean
