"""Bring a database up to date under a lock: numbered migrations once, function files whenever their text changes."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import asyncpg

from core.db.functions import apply_functions
from core.db.ledger import record, record_in_place
from core.db.pending import DatabaseState, compare, connected
from core.db.serving import ROLE
from core.db.sql_files import AbilitySql, SqlFile, load_functions, load_migrations, with_abilities
from core.errors import ConfigError

LOCK = 0x6F6E6576616C6574  # "onevalet": a single migrator at a time per database
LOCK_WAIT = 3.0
"""Seconds that a migration waits for a table at a time: later sessions that want the table wait behind it."""
LOCK_TRIES = 40
PAUSE = 1.0
# Functions are for the serving role only, and most are made by the migrating user.
DEFAULT_RIGHTS = (
    "alter default privileges revoke execute on functions from public;"
    f"alter default privileges grant execute on functions to {ROLE};"
)


class MissingExtension(ConfigError):
    """The database has no pgvector, and this user may not create it."""


async def migrate(database_url: str, abilities: Sequence[AbilitySql] = ()) -> list[str]:
    """Apply the missing migrations, each in a transaction, then the changed functions; return the files' names.

    The migrations of the abilities come after those of the spine.

    Connects as the URL's own user (not the serving role), which must own the database. Any number may run at once.
    Applies nothing if newer code has migrated the database and it still serves this code. Raises `ConfigError` with a
    sentence if the database cannot be reached or prepared.
    """
    async with connected(database_url) as connection:
        await refuse_pooler(connection, "`migrate`")
        await connection.execute("select pg_advisory_lock($1)", LOCK)
        await _prepare(connection)
        functions = with_abilities(load_functions(), abilities)
        state = await compare(connection, load_migrations(), functions, _tables_of(abilities))
        if state.is_newer and state.serves_this_code:
            return []
        if state.is_newer:
            raise ConfigError(f"The database has migration {state.newest}, this code has not: deploy newer code.")
        for migration in state.renamed:
            await _patiently(connection, migration.name, partial(record_in_place, connection, migration))
        for migration in (*state.migrations, *state.of_abilities):
            await _patiently(connection, migration.name, partial(_apply, connection, migration))
        changed = await _patiently(connection, "functions", partial(apply_functions, connection, functions))
        return [migration.name for migration in (*state.migrations, *state.of_abilities)] + changed


async def check_database(database_url: str, abilities: Sequence[AbilitySql] = ()) -> DatabaseState:
    """Return the state that `migrate` would find, with the pending files; change nothing."""
    migrations, functions = load_migrations(), with_abilities(load_functions(), abilities)
    tables = _tables_of(abilities)
    async with connected(database_url) as connection:
        if await connection.fetchval("select to_regclass('schema_migrations') is null"):
            names = tuple(file.name for file in functions)
            return DatabaseState(0, len(migrations), 0, tuple(migrations), tuple(tables), names)
        return await compare(connection, migrations, functions, tables)


def _tables_of(abilities: Sequence[AbilitySql]) -> list[SqlFile]:
    return [migration for ability in abilities for migration in ability.migrations()]


async def _apply(connection: "asyncpg.Connection[asyncpg.Record]", migration: SqlFile) -> None:
    async with connection.transaction():
        await connection.execute(migration.sql)
        await record(connection, migration)


async def _patiently[Result](
    connection: "asyncpg.Connection[asyncpg.Record]", name: str, work: Callable[[], Awaitable[Result]]
) -> Result:
    """Run a transaction again if it could not lock a table: a long wait for a table holds up all sessions behind it."""
    await connection.execute(f"set lock_timeout = '{LOCK_WAIT}s'")
    for _ in range(LOCK_TRIES):
        try:
            return await work()
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            await asyncio.sleep(PAUSE * (0.5 + random.random()))
    raise ConfigError(
        f"{name} was not applied, because another session has held a table for too long: end what runs for long,"
        " such as a dump, then migrate again."
    )


async def refuse_pooler(connection: "asyncpg.Connection[asyncpg.Record]", command: str) -> None:
    """Raise `ConfigError` if a connection goes through a pooler; otherwise reset the role to the login's user."""
    # A pooler reports its own number to clients in place of the server's.
    if await connection.fetchval("select pg_backend_pid()") != connection.get_server_pid():
        raise ConfigError(
            f"DATABASE_URL leads to a pooler such as PgBouncer, and {command} needs a session of its own: give it the"
            " address of Postgres itself."
        )
    await connection.execute("set role none")  # `alter role … set role` may be meant for serving processes


async def _prepare(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    version = connection.get_server_version().major
    if version < 15:
        raise ConfigError(f"Postgres 15 or newer is needed; DATABASE_URL leads to version {version}.")
    await prepare_for_tables(connection)
    try:
        await connection.execute(
            "create table if not exists schema_migrations (number int primary key, name text not null, "
            "checksum text not null, applied_at timestamptz not null default clock_timestamp(), serves_from int);"
            "create table if not exists schema_functions (name text primary key, checksum text not null, "
            "functions text[] not null);" + DEFAULT_RIGHTS
        )
    except asyncpg.InsufficientPrivilegeError as error:
        raise _ask_dba(f"grant usage, create on schema public to {await _user(connection)};") from error


async def prepare_for_tables(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Make the role and the extension that the tables need. Raises `ConfigError` with the statement for a DBA."""
    await _make_role(connection)
    await _make_extension(connection)


async def _make_role(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    if not await connection.fetchval("select 1 from pg_roles where rolname = $1", ROLE):
        try:
            await connection.execute(f"create role {ROLE} nologin")
        except (asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
            pass  # another database of this cluster made it at this moment; roles are the cluster's
        except asyncpg.InsufficientPrivilegeError as error:
            user = await _user(connection)
            raise _ask_dba(f"create role {ROLE} nologin; grant {ROLE} to {user};") from error
    # From Postgres 16 on, a role's creator is its member without being allowed to act as it.
    right = "set" if connection.get_server_version().major >= 16 else "member"
    if not await connection.fetchval("select pg_has_role(current_user, $1, $2)", ROLE, right):
        try:
            await connection.execute(f"grant {ROLE} to current_user")
        except asyncpg.InsufficientPrivilegeError as error:
            raise _ask_dba(f"grant {ROLE} to {await _user(connection)};") from error


async def _make_extension(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    if await connection.fetchval("select 1 from pg_extension where extname = 'vector'"):
        return
    try:
        await connection.execute("create extension if not exists vector")
    except asyncpg.InsufficientPrivilegeError as error:
        raise MissingExtension(str(_ask_dba("create extension vector;"))) from error
    except (asyncpg.FeatureNotSupportedError, asyncpg.UndefinedFileError) as error:
        raise ConfigError("Postgres has no pgvector: install it on the server, migrate again.") from error


async def _user(connection: "asyncpg.Connection[asyncpg.Record]") -> str:
    return str(await connection.fetchval("select quote_ident(current_user)"))


def _ask_dba(statement: str) -> ConfigError:
    return ConfigError(f"This database user may not prepare the database: have a DBA run: {statement}")
