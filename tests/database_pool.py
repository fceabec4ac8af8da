"""Databases that tests borrow in turn: emptying one takes milliseconds, creating one a quarter of a second."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import asyncpg

from tests import left_open
from tests.kept_connections import Keeper
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
# Says that something may have changed it: the shape takes most of the time of emptying a database, and few tests do.
_WATCH = """
create schema watch;
create table watch.changed ();
create function watch.note() returns event_trigger language plpgsql security definer as
$$ begin insert into watch.changed default values; end $$;
create event trigger watch_made on ddl_command_end execute function watch.note();
create event trigger watch_dropped on sql_drop execute function watch.note();
alter event trigger watch_made enable always;
alter event trigger watch_dropped enable always;
"""
_MIGRATIONS = (
    "select md5(string_agg(file, ',' order by file)) from"
    " (select name || checksum from schema_migrations"
    " union all select name || checksum from schema_ability_migrations"
    " union all select name || checksum from schema_functions) files(file)"
)
# One statement, and below another: to ask each time costs more than what is asked for.
_END_OTHERS = f"""
select (
    select count(pg_terminate_backend(pid)) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and not pid = any ($1)
), ({_MIGRATIONS}) as migrations, exists (select from watch.changed) as changed
"""  # noqa: S608 - of constants
_TABLES = "select tablename from pg_tables where schemaname = 'public' and not starts_with(tablename, 'schema_')"
_SEQUENCES = "select setval(seqrelid::regclass, 1, false) from pg_sequence"


class DatabasePool:
    """Lend a database as the migrations create it. A database whose schema a test changed is dropped.

    One connection, in a loop of its own, stays with a database from test to test: what costs most of emptying it is
    what a new connection has to load and plan.
    """

    def __init__(self, services: RunServices, prefix: str, keeper: Keeper) -> None:
        self._services = services
        self._prefix = prefix
        self._keeper = keeper
        self._loop = asyncio.new_event_loop()
        self._made = 0
        self._lent: _Lent | None = None

    @contextmanager
    def borrow(self) -> Iterator[str]:
        """Yield the URL of an empty database for the block; outside of any event loop."""
        if self._lent is None:
            with left_open.for_several_tests():
                self._lent = self._loop.run_until_complete(self._make())
        lent = self._lent
        try:
            yield self._services.on_database(lent.name)
        finally:
            if not self._loop.run_until_complete(lent.empty(self._keeper.pids())):
                self._lent = None
                self._loop.run_until_complete(self._drop(lent))

    def close(self) -> None:
        """Let go of what is left. Its server is deleted next, so to drop it would cost a checkpoint for nothing."""
        if self._lent is not None:
            self._loop.run_until_complete(self._lent.connection.close())
        self._loop.close()

    async def _make(self) -> "_Lent":
        self._made += 1
        name = f"{self._prefix}_{self._made}"
        await make_database(self._services, name)
        self._keeper.databases.add(name)
        connection = await asyncpg.connect(self._services.on_database(name))
        await connection.execute("set lock_timeout = '2s'; set session_replication_role = replica")
        await connection.execute(_WATCH)
        await connection.execute("delete from watch.changed")
        tables = [row["tablename"] for row in await connection.fetch(_TABLES)]
        # One statement, planned once. In the role of a replica no trigger runs and no foreign key is checked, so the
        # order does not matter.
        deletes = ",".join(f'"{table}" as (delete from "{table}")' for table in tables)  # noqa: S608 - the catalogue's
        shape, migrations = await _shape(connection), await connection.fetchval(_MIGRATIONS)
        return _Lent(name, connection, shape, migrations, f"with {deletes} {_SEQUENCES}")

    async def _drop(self, lent: "_Lent") -> None:
        lent.connection.terminate()
        self._keeper.forget(lent.name)
        await drop_database(self._services, lent.name)


@dataclass(frozen=True, slots=True)
class _Lent:
    """A database that tests borrow, and how it was created."""

    name: str
    connection: "asyncpg.Connection[asyncpg.Record]"
    shape: str
    migrations: str
    deletes: str

    async def empty(self, kept: list[int]) -> bool:
        """Delete every row and end every connection that is not kept; return False if the schema is not as created."""
        try:
            stands = await self.connection.fetchrow(_END_OTHERS, kept)
            if stands is None or stands["migrations"] != self.migrations:
                return False
            if stands["changed"]:
                if await _shape(self.connection) != self.shape:
                    return False
                await self.connection.execute("delete from watch.changed")
            await self.connection.fetch(self.deletes)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            return False
        return True


async def _shape(connection: "asyncpg.Connection[asyncpg.Record]") -> str:
    return str(await connection.fetchval(_SHAPE))
