"""Bring a database up to date under one lock: numbered migrations once, function files whenever their text changes."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from core.db.database import ROLE
from core.errors import ConfigError

SQL = Path(__file__).parent / "sql"
LOCK = 0x6F6E6576616C6574  # "onevalet": one migrator at a time per database
BEFORE_SQUASH = "0001_spine"
"""The first migration of databases that were made before 0.1.0."""

# A trigger's function is replaced where it stands, since its trigger would be dropped with it. It has no parameters,
# and its result never changes.
_DROPS = """
select format('drop function %s cascade', p.oid::regprocedure) from pg_proc p
where p.pronamespace = current_schema()::regnamespace and p.proname = any ($1)
  and (p.prorettype <> 'trigger'::regtype or p.proname <> all ($2))
"""


@dataclass(frozen=True, slots=True)
class SqlFile:
    """A migration, or the functions of one room. `name`: the file's, without its ending."""

    name: str
    sql: str

    @property
    def number(self) -> int:
        return int(self.name.split("_", 1)[0])

    @property
    def checksum(self) -> str:
        """Return the SHA-256 of the text, hex."""
        return hashlib.sha256(self.sql.encode()).hexdigest()

    @property
    def functions(self) -> list[str]:
        return re.findall(r"^create (?:or replace )?function (\w+)", self.sql, re.MULTILINE)


def load_migrations(folder: Path = SQL / "migrations") -> list[SqlFile]:
    """Return the migrations in order; their numbers must rise by one."""
    migrations = _load(folder)
    if [migration.number for migration in migrations] != list(range(1, len(migrations) + 1)):
        raise ConfigError(f"The migrations in {folder} are not numbered 1, 2, 3 and so on.")
    return migrations


def load_functions(folder: Path = SQL / "functions") -> list[SqlFile]:
    return _load(folder)


def _load(folder: Path) -> list[SqlFile]:
    return [SqlFile(path.stem, path.read_text()) for path in sorted(folder.glob("*.sql"))]


async def migrate(database_url: str) -> list[str]:
    """Apply the missing migrations, each in a transaction, then the changed functions; return the files' names.

    Connects as the URL's own user (not the serving role), which must own the database. Any number may run
    at once. Raises `ConfigError` with one sentence when the database cannot be reached or prepared.
    """
    try:
        connection = await asyncpg.connect(database_url, timeout=10, server_settings={"search_path": "public"})
    except (OSError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError) as error:
        cause = type(error).__name__
        raise ConfigError(f"The database in DATABASE_URL cannot be reached ({cause}).") from error
    try:
        await connection.execute("select pg_advisory_lock($1)", LOCK)
        await _prepare(connection)
        return await _apply_missing(connection, load_migrations()) + await _apply_functions(
            connection, load_functions()
        )
    finally:
        await connection.close()


async def _apply_missing(connection: "asyncpg.Connection[asyncpg.Record]", known: list[SqlFile]) -> list[str]:
    applied = {
        row["number"]: row["checksum"]
        for row in await connection.fetch("select number, checksum from schema_migrations")
    }
    if await connection.fetchval("select 1 from schema_migrations where name = $1", BEFORE_SQUASH):
        raise ConfigError(
            "This database was made before 0.1.0, whose tables cannot be taken over: set DATABASE_URL to an empty"
            " database (`dev`: set ONEVALET_HOME to an empty folder), then migrate again."
        )
    if ahead := sorted(set(applied) - {m.number for m in known}):
        raise ConfigError(f"The database has migration {ahead[-1]}, this code has not: deploy newer code.")
    names = []
    for migration in known:
        if migration.number in applied:
            if applied[migration.number] != migration.checksum:
                raise ConfigError(
                    f"Migration {migration.name} was edited after it was applied: put it back, add a new one."
                )
            continue
        async with connection.transaction():
            await connection.execute(migration.sql)
            await connection.execute(
                "insert into schema_migrations (number, name, checksum) values ($1, $2, $3)",
                migration.number,
                migration.name,
                migration.checksum,
            )
        names.append(migration.name)
    return names


async def _apply_functions(connection: "asyncpg.Connection[asyncpg.Record]", known: list[SqlFile]) -> list[str]:
    """Apply the files whose text changed, in one transaction, and drop the functions that no file has any more.

    They are dropped before they are created: what one returns, or how its parameters are called, cannot be replaced.
    """
    applied = {row["name"]: row for row in await connection.fetch("select * from schema_functions")}
    changed = [file for file in known if file.name not in applied or applied[file.name]["checksum"] != file.checksum]
    gone = applied.keys() - {file.name for file in known}
    old = [
        name
        for file in [*gone, *(file.name for file in changed)]
        if file in applied
        for name in applied[file]["functions"]
    ]
    async with connection.transaction():
        for row in await connection.fetch(_DROPS, old, [name for file in known for name in file.functions]):
            await connection.execute(row[0])
        # They call each other across files.
        await connection.execute("set local check_function_bodies = off")
        for file in changed:
            await connection.execute(file.sql)
            await connection.execute(
                "insert into schema_functions as f (name, checksum, functions) values ($1, $2, $3) on conflict (name)"
                " do update set checksum = excluded.checksum, functions = excluded.functions",
                file.name,
                file.checksum,
                file.functions,
            )
        await connection.execute("delete from schema_functions where name = any ($1)", list(gone))
    return [file.name for file in changed]


async def _prepare(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    version = connection.get_server_version().major
    if version < 15:
        raise ConfigError(f"Postgres 15 or newer is needed; DATABASE_URL leads to version {version}.")
    await _make_role(connection)
    await _make_extension(connection)
    try:
        await connection.execute(
            "create table if not exists schema_migrations (number int primary key, name text not null, "
            "checksum text not null, applied_at timestamptz not null default clock_timestamp());"
            "create table if not exists schema_functions (name text primary key, checksum text not null, "
            "functions text[] not null);"
            # Functions are for the serving role only, and most are made by whoever migrates.
            "alter default privileges revoke execute on functions from public;"
            f"alter default privileges grant execute on functions to {ROLE}"
        )
    except asyncpg.InsufficientPrivilegeError as error:
        raise _ask_dba(f"grant usage, create on schema public to {await _user(connection)};") from error


async def _make_role(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    if not await connection.fetchval("select 1 from pg_roles where rolname = $1", ROLE):
        try:
            await connection.execute(f"create role {ROLE} nologin")
        except (asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
            pass  # another database of this cluster made it at this moment; roles are the cluster's
        except asyncpg.InsufficientPrivilegeError as error:
            user = await _user(connection)
            raise _ask_dba(f"create role {ROLE} nologin; grant {ROLE} to {user};") from error
    # From Postgres 16 on, who made a role is its member without being allowed to act as it.
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
        raise _ask_dba("create extension vector;") from error
    except (asyncpg.FeatureNotSupportedError, asyncpg.UndefinedFileError) as error:
        raise ConfigError("Postgres has no pgvector: install it on the server, migrate again.") from error


async def _user(connection: "asyncpg.Connection[asyncpg.Record]") -> str:
    return str(await connection.fetchval("select quote_ident(current_user)"))


def _ask_dba(statement: str) -> ConfigError:
    return ConfigError(f"This database user may not prepare the database: have a DBA run: {statement}")
