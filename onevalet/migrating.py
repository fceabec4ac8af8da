"""The database of this installation: the tables and functions of the spine, and of each ability that is there."""

from core.db.migrate import check_database as compare_database
from core.db.migrate import migrate as migrate_database
from core.db.pending import DatabaseState
from core.db.sql_files import AbilitySql, SqlFile, load_functions, with_abilities
from onevalet.ability_registry import all_abilities, folder_of


async def migrate(database_url: str) -> list[str]:
    """Apply the missing migrations, each in a transaction, then the changed functions; return the files' names.

    Connects as the URL's own user (not the serving role), which must own the database. Any number may run at once.
    Applies nothing if newer code has migrated the database and it still serves this code. Raises `ConfigError` with a
    sentence if the database cannot be reached or prepared.
    """
    return await migrate_database(database_url, sql_of_abilities())


async def check_database(database_url: str) -> DatabaseState:
    """Return the pending work of `migrate`; change nothing."""
    return await compare_database(database_url, sql_of_abilities())


def all_functions() -> list[SqlFile]:
    """Return the files of all functions."""
    return with_abilities(load_functions(), sql_of_abilities())


def migrations_of_abilities() -> list[SqlFile]:
    """Return the files of the abilities' migrations."""
    return [file for ability in sql_of_abilities() for file in ability.migrations()]


def sql_of_abilities() -> list[AbilitySql]:
    """Return the folders of the abilities' SQL."""
    return [AbilitySql(ability.name, folder_of(ability) / "sql") for ability in all_abilities()]
