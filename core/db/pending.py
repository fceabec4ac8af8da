"""The state of a database against this code's SQL, and whether code of another version may work on it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg

from core.db.connector import connect
from core.db.ledger import find_renamed, read_ledger, rename
from core.db.sql_files import SqlFile
from core.errors import ConfigError


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
    renamed: tuple[SqlFile, ...] = ()
    """The migrations that stand for those of a database from before 0.1.0: nothing of them is pending."""

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
        """Return the pending migrations that must wait until processes of the previous version have stopped."""
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
    ledger = await read_ledger(connection)
    renamed = find_renamed(ledger, (*migrations, *of_abilities))
    applied = {(row.ability, row.number): row for row in rename(ledger, renamed)}
    for migration in (*migrations, *of_abilities):
        row = applied.get((migration.ability, migration.number))
        if row and row.checksum != migration.checksum:
            raise ConfigError(
                f"Migration {migration.name} was edited after it was applied: put it back, add a new one."
            )
    of_spine = [row for row in applied.values() if not row.ability]
    known, newest = len(migrations), max((row.number for row in of_spine), default=0)
    serves_from = max((row.serves_from or 0 for row in of_spine), default=0)
    if newest > known:
        return DatabaseState(newest, known, serves_from)
    rows = await connection.fetch("select name, checksum from schema_functions")
    has = {(row["name"], row["checksum"]) for row in rows}
    wanted = {(file.name, file.checksum) for file in functions}
    missing, further = (
        tuple(file for file in files if (file.ability, file.number) not in applied)
        for files in (migrations, of_abilities)
    )
    changed = tuple(sorted({name for name, _ in has ^ wanted}))
    return DatabaseState(newest, known, serves_from, missing, further, changed, tuple(renamed))
