"""Bring a database up to the newest migration: numbered SQL files, one lock, checksums."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from core.db.database import ROLE
from core.errors import ConfigError

MIGRATIONS = Path(__file__).parent / "sql" / "migrations"
LOCK = 0x6F6E6576616C6574  # "onevalet": one migrator at a time per database


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file. `checksum`: SHA-256 of its text, so that an edited applied file is an error."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """Return the SHA-256 of the text, hex."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def load_migrations(folder: Path = MIGRATIONS) -> list[Migration]:
    """List the migrations in order; numbers must rise by one."""
    found = [
        Migration(int(path.name.split("_", 1)[0]), path.stem, path.read_text())
        for path in sorted(folder.glob("[0-9]*.sql"))
    ]
    if [m.number for m in found] != list(range(1, len(found) + 1)):
        raise ConfigError(f"The migrations in {folder} are not numbered 1, 2, 3 and so on.")
    return found


async def migrate(database_url: str) -> list[str]:
    """Apply what is missing, each file in a transaction of its own; return the names of those applied.

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
        return await _apply_missing(connection, load_migrations())
    finally:
        await connection.close()


async def _apply_missing(connection: "asyncpg.Connection[asyncpg.Record]", known: list[Migration]) -> list[str]:
    applied = {
        row["number"]: row["checksum"]
        for row in await connection.fetch("select number, checksum from schema_migrations")
    }
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
                migration.number, migration.name, migration.checksum,
            )  # fmt: skip
        names.append(migration.name)
    if names and await connection.fetchval("select to_regproc('let_keys_wait')") is not None:
        await connection.execute("select let_keys_wait()")
    return names


async def _prepare(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    version = connection.get_server_version().major
    if version < 15:
        raise ConfigError(f"Postgres 15 or newer is needed; DATABASE_URL leads to version {version}.")
    await _make_role(connection)
    await _make_extension(connection)
    try:
        await connection.execute(
            "create table if not exists schema_migrations (number int primary key, name text not null, "
            "checksum text not null, applied_at timestamptz not null default clock_timestamp())"
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
