"""The ledger of applied migrations.

A database from before 0.1.0 has other migrations. The code for them, here and in `SqlFile`, goes with 0.2.0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import asyncpg

from core.db.sql_files import SqlFile
from core.errors import ConfigError

type _Connection = asyncpg.Connection[asyncpg.Record]

LAST_COMMIT = "d43b3a22"
"""The last commit before the migrations became one for the spine and one for each ability, at 0.1.0."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A migration that was applied. `ability`: empty for the spine's."""

    ability: str
    number: int
    name: str
    checksum: str
    serves_from: int | None = None


async def read_ledger(connection: _Connection) -> list[Applied]:
    """Return the migrations that were applied to a database, of the spine and of abilities."""
    rows = await connection.fetch("select * from schema_migrations")
    # Before 0.1.0 the column could be missing.
    ledger = [Applied("", row["number"], row["name"], row["checksum"], row.get("serves_from")) for row in rows]
    if await connection.fetchval("select to_regclass('schema_ability_migrations') is null"):
        return ledger
    rows = await connection.fetch("select * from schema_ability_migrations")
    return ledger + [Applied(row["ability"], row["number"], row["name"], row["checksum"]) for row in rows]


def find_renamed(ledger: Sequence[Applied], migrations: Iterable[SqlFile]) -> list[SqlFile]:
    """Return the migrations that stand for all that the ledger has of their spine or ability.

    Raises `ConfigError` for a database from before 0.1.0 whose migrations are not all applied.
    """
    newest = {row.ability: row for row in sorted(ledger, key=lambda row: row.number)}
    names = {row.name for row in ledger}
    renamed = []
    for migration in migrations:
        last = newest.get(migration.ability)
        if last is None or not migration.stands_for:
            continue
        if last.checksum == migration.stands_for:
            renamed.append(migration)
        elif not migration.ability and migration.name not in names:
            raise ConfigError(
                f"This database was made before 0.1.0 and ends with migration {last.name}: run `migrate` of commit"
                f" {LAST_COMMIT} first, then this one."
            )
    return renamed


def rename(ledger: Iterable[Applied], renamed: Iterable[SqlFile]) -> list[Applied]:
    """Return the ledger with each of the migrations in place of those that it stands for."""
    by_ability = {file.ability: file for file in renamed}
    kept = [row for row in ledger if row.ability not in by_ability]
    return kept + [Applied(file.ability, file.number, file.name, file.checksum) for file in by_ability.values()]


async def record(connection: _Connection, migration: SqlFile) -> None:
    """Write that a migration was applied."""
    if migration.ability:
        await connection.execute(
            "insert into schema_ability_migrations (ability, number, name, checksum) values ($1, $2, $3, $4)",
            migration.ability,
            migration.number,
            migration.name,
            migration.checksum,
        )
        return
    await connection.execute(
        "insert into schema_migrations (number, name, checksum, serves_from) values ($1, $2, $3, $4)",
        migration.number,
        migration.name,
        migration.checksum,
        migration.serves_from,
    )


async def record_in_place(connection: _Connection, migration: SqlFile) -> None:
    """Write that a migration was applied, in place of those that it stands for, and let the tables catch up."""
    async with connection.transaction():
        if migration.ability:
            await connection.execute("delete from schema_ability_migrations where ability = $1", migration.ability)
        else:
            await connection.execute("delete from schema_migrations")
        if migration.catch_up:
            await connection.execute(migration.catch_up)
        await record(connection, migration)
