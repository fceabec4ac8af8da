"""The state of a database against this code's SQL, and whether code of another version may work on it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg

from core.db.connector import connect
from core.db.sql_files import SqlFile
from core.errors import ConfigError

BEFORE_SQUASH = "0001_spine"
"""The first migration of databases that were made before 0.1.0."""

# Databases of earlier versions have no column `serves_from`.
_MIGRATIONS = (
    "select number, name, checksum, (to_jsonb(m) ->> 'serves_from')::int as serves_from from schema_migrations m"
)


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """A database compared with this code. `newest`: its last migration, `known`: the code's last; 0 for none."""

    newest: int
    known: int
    serves_from: int = 0
    """The oldest code that the database serves, by its last migration."""
    migrations: tuple[SqlFile, ...] = ()
    """The migrations that are still to be applied."""
    of_abilities: tuple[SqlFile, ...] = ()
    """The pending migrations of abilities: only code that has the ability needs them."""
    functions: tuple[str, ...] = ()
    """Files of functions that are to be applied, or to be dropped."""

    @property
    def is_newer(self) -> bool:
        """Return whether newer code has migrated it."""
        return self.newest > self.known

    @property
    def serves_this_code(self) -> bool:
        return self.serves_from <= self.known

    @property
    def is_current(self) -> bool:
        return not (self.is_newer or self.migrations or self.of_abilities or self.functions)

    def unsafe(self) -> list[SqlFile]:
        """Return the pending migrations that wait until processes of the version before have stopped."""
        return [migration for migration in self.migrations if (migration.serves_from or 0) > self.newest > 0]


@asynccontextmanager
async def connected(database_url: str) -> "AsyncIterator[asyncpg.Connection[asyncpg.Record]]":
    """Yield a connection as the URL's own user; raise `ConfigError` with a sentence if there is none."""
    try:
        connection = await connect(database_url, timeout=10)
    except (OSError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError) as error:
        cause = type(error).__name__
        raise ConfigError(f"The database in DATABASE_URL cannot be reached ({cause}).") from error
    try:
        await connection.execute("set search_path = public")
        yield connection
    finally:
        await connection.close()


async def compare(
    connection: "asyncpg.Connection[asyncpg.Record]",
    migrations: list[SqlFile],
    functions: list[SqlFile],
    of_abilities: list[SqlFile],
) -> DatabaseState:
    """Compare a database with files; raise `ConfigError` if they cannot belong together."""
    applied = {row["number"]: row for row in await connection.fetch(_MIGRATIONS)}
    if any(row["name"] == BEFORE_SQUASH for row in applied.values()):
        raise ConfigError(
            "This database was made before 0.1.0, whose tables cannot be taken over: set DATABASE_URL to an empty"
            " database (`dev`: set ONEVALET_HOME to an empty folder), then migrate again."
        )
    theirs = await _of_abilities(connection)
    for migration in (*migrations, *of_abilities):
        checksum = theirs.get(migration.name) if migration.ability else _checksum(applied.get(migration.number))
        if checksum is not None and checksum not in (migration.checksum, *migration.was):
            raise ConfigError(
                f"Migration {migration.name} was edited after it was applied: put it back, add a new one."
            )
    known, newest = len(migrations), max(applied, default=0)
    serves_from = max((row["serves_from"] or 0 for row in applied.values()), default=0)
    if newest > known:
        return DatabaseState(newest, known, serves_from)
    rows = await connection.fetch("select name, checksum from schema_functions")
    has = {(row["name"], row["checksum"]) for row in rows}
    wanted = {(file.name, file.checksum) for file in functions}
    missing = tuple(migration for migration in migrations if migration.number not in applied)
    further = tuple(migration for migration in of_abilities if migration.name not in theirs)
    return DatabaseState(
        newest, known, serves_from, missing, further, tuple(sorted({name for name, _ in has ^ wanted}))
    )


async def _of_abilities(connection: "asyncpg.Connection[asyncpg.Record]") -> dict[str, str]:
    """Return the checksums of the abilities' applied migrations, by their names."""
    if await connection.fetchval("select to_regclass('schema_ability_migrations') is null"):
        return {}
    return {row["name"]: row["checksum"] for row in await connection.fetch("select * from schema_ability_migrations")}


def _checksum(row: asyncpg.Record | None) -> str | None:
    return row["checksum"] if row is not None else None
