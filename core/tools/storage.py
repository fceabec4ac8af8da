"""The values that tools store for a person, or for several, in Postgres: each under its tenant, collection and key."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from core.db.database import Database
from core.errors import ToolFailed
from core.json_types import Json, storable
from core.language.catalogue import gettext
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

    def shared_with(self, tenant_id: str, shared: "SharedBy") -> "PostgresStorage":
        """Return the values that a person shares with others."""
        return PostgresStorage(self.database, tenant_id, shared)


@dataclass(frozen=True, slots=True)
class SharedBy:
    """The SQL functions that return the tenant of a person's shared home, null if none: to read there, and to write.

    The latter keeps the person in it until the commit.
    """

    reads: str
    writes: str


@dataclass(frozen=True, slots=True)
class PostgresStorage:
    """The stored values of a tenant, or those that it shares. Implements `core.tools.context.TenantStorage`."""

    database: Database
    tenant_id: str
    shared: SharedBy | None = None

    async def get(self, collection: str, key: str) -> StoredValue | None:
        rows = await self._read(collection, _name(key))
        return rows[0] if rows else None

    async def put(self, collection: str, key: str, value: Json) -> StoredValue:
        kept = _value(value)
        name, key = _name(collection), _name(key)
        stored = await self._write("put_value({},$2,$3,coalesce($4::jsonb,'null'))", name, key, kept)
        return StoredValue(key, cast(int, stored), kept)

    async def swap(self, collection: str, key: str, value: Json, was: Json) -> bool:
        given = (_name(collection), _name(key), _value(value), storable(was))
        return bool(await self._write("swap_value({},$2,$3,coalesce($4::jsonb,'null'),$5::jsonb)", *given))

    async def list(self, collection: str) -> Sequence[StoredValue]:
        return await self._read(collection, None)

    async def delete(self, collection: str, key: str) -> None:
        await self._write("delete_value({},$2,$3)", _name(collection), _name(key))

    async def _read(self, collection: str, key: str | None) -> Sequence[StoredValue]:
        statement = "select * from read_values($1,$2,$3)"
        if self.shared:
            statement = f"select v.* from {self.shared.reads}($1) t, read_values(t,$2,$3) v"  # noqa: S608 - an ability's
        rows = await self.database.rows(statement, self.tenant_id, _name(collection), key)
        return [StoredValue(row["key"], row["number"], row["value"]) for row in rows]

    async def _write(self, call: str, *given: Json) -> object:
        """Return the result of a function that writes; {} stands for the tenant."""
        statement = f"select {call.format('$1')} as result"
        if self.shared:
            home = f"{self.shared.writes}($1) t where t is not null"
            statement = f"select {call.format('t')} as result from {home}"  # noqa: S608 - an ability's function
        rows = await self.database.rows(statement, self.tenant_id, *given)
        if not rows:
            raise ToolFailed(gettext("You no longer share this with anybody."))
        return rows[0]["result"]


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
