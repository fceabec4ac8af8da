"""Databases that tests borrow in turn: emptying one takes milliseconds, creating one a quarter of a second."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from tests.services import RunServices, drop_database, make_database

# What a test may have changed besides rows: functions, policies, columns, constraints, triggers, grants, indexes.
_SHAPE = """
select md5(string_agg(part, ',' order by part)) from (
    select 'p' || oid || xmin::text from pg_proc where pronamespace = 'public'::regnamespace
    union all select 'y' || oid || xmin::text from pg_policy
    union all select 'a' || attrelid || '.' || attnum || xmin::text from pg_attribute where attrelid > 16383
    union all select 'c' || oid || xmin::text from pg_constraint where connamespace = 'public'::regnamespace
    union all select 't' || oid || xmin::text from pg_trigger where not tgisinternal
    union all select 'r' || oid || relkind::text || coalesce(relacl::text, '') || relrowsecurity || relforcerowsecurity
        from pg_class where relnamespace = 'public'::regnamespace
) parts(part)
"""
_MIGRATIONS = (
    "select md5(string_agg(checksum, ',' order by checksum)) from"
    " (select checksum from schema_migrations union all select checksum from schema_functions)"
)
_TABLES = "select tablename from pg_tables where schemaname = 'public' and not starts_with(tablename, 'schema_')"
_SEQUENCES = "select setval(format('%I', sequencename), 1, false) from pg_sequences where schemaname = 'public'"


class DatabasePool:
    """Lend a database as the migrations create it. A database whose schema a test changed is dropped."""

    def __init__(self, services: RunServices, prefix: str) -> None:
        self._services = services
        self._prefix = prefix
        self._made = 0
        self._name = ""
        self._shape = ""

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[str]:
        """Yield the URL of an empty database for the block."""
        if not self._name:
            self._made += 1
            self._name = f"{self._prefix}_{self._made}"
            await make_database(self._services, self._name)
            self._shape = await self._look()
        name = self._name
        try:
            yield self._services.on_database(name)
        finally:
            if not await self._empty():
                self._name = ""
                await drop_database(self._services, name)

    async def _empty(self) -> bool:
        """Delete every row and end every connection; return False if the schema is not as created."""
        connection = await asyncpg.connect(self._services.on_database(self._name))
        try:
            await connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and pid <> pg_backend_pid()"
            )
            if await _shape(connection) != self._shape:
                return False
            tables = [row["tablename"] for row in await connection.fetch(_TABLES)]
            deletes = ";".join(f'delete from "{table}"' for table in tables)  # noqa: S608 - names from the catalogue
            # In the role of a replica no trigger runs and no foreign key is checked, so the order does not matter.
            await connection.execute(f"set lock_timeout = '2s'; set session_replication_role = replica; {deletes}")
            await connection.execute(_SEQUENCES)
        except asyncpg.PostgresError:
            return False
        finally:
            await connection.close()
        return True

    async def _look(self) -> str:
        connection = await asyncpg.connect(self._services.on_database(self._name))
        try:
            return await _shape(connection)
        finally:
            await connection.close()


async def _shape(connection: "asyncpg.Connection[asyncpg.Record]") -> str:
    return f"{await connection.fetchval(_SHAPE)}{await connection.fetchval(_MIGRATIONS)}"
