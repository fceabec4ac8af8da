"""A database from before 0.1.0: it counts as migrated if its last migration was applied, and is refused otherwise."""

import asyncpg
import pytest

from core.db.ledger import Applied, find_renamed, rename
from core.db.sql_files import SqlFile
from core.errors import ConfigError
from onevalet.migrating import check_database, migrate

OLD, OTHER = "a" * 64, "b" * 64
TABLES = SqlFile("0001_tables", f"-- stands for 0061_undelivered {OLD}\ncreate table all ();")
PETS = SqlFile("pets/0001_pets", f"-- stands for 0003_pets {OLD}\ncreate table pets ();")
MORE = SqlFile("0002_more", "create table more ();")
FIRST, LAST = Applied("", 1, "0001_row_security", OTHER), Applied("", 61, "0061_undelivered", OLD)


def test_the_last_old_migration_stands_for_the_first_new_one() -> None:
    assert find_renamed([LAST, FIRST], [TABLES, MORE]) == [TABLES]
    pets = Applied("pets", 3, "pets/0003_pets", OLD)
    assert rename([FIRST, LAST, pets], [TABLES]) == [pets, Applied("", 1, "0001_tables", TABLES.checksum)]


def test_an_ability_is_renamed_for_itself() -> None:
    new = [Applied("", 1, "0001_tables", TABLES.checksum)]
    old = [Applied("pets", 1, "pets/0001_pets", OTHER), Applied("pets", 3, "pets/0003_pets", OLD)]
    assert find_renamed([*new, *old], [TABLES, PETS]) == [PETS]


@pytest.mark.parametrize(
    "ledger",
    [
        [],
        [Applied("", 1, "0001_tables", TABLES.checksum)],
        [Applied("", 1, "0001_tables", OTHER)],
        [Applied("", 1, "0001_tables", TABLES.checksum), Applied("", 2, "0002_more", MORE.checksum)],
    ],
    ids=["empty", "new", "edited", "newer"],
)
def test_other_ledgers_are_left_as_they_are(ledger: list[Applied]) -> None:
    assert find_renamed(ledger, [TABLES, MORE]) == []


@pytest.mark.parametrize("last", [Applied("", 60, "0060_x", OTHER), Applied("", 61, "0061_undelivered", OTHER)])
def test_an_older_state_is_refused_with_the_commit_to_go_through(last: Applied) -> None:
    with pytest.raises(ConfigError) as refused:
        find_renamed([FIRST, last], [TABLES, MORE])
    assert str(refused.value) == (
        f"This database was made before 0.1.0 and ends with migration {last.name}: run `migrate` of commit d43b3a22"
        " first, then this one."
    )


async def test_a_refused_database_keeps_its_ledger(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    # As the oldest of them have it.
    await connection.execute("alter table schema_migrations drop column serves_from")
    await connection.execute("update schema_migrations set name = '0001_spine', checksum = 'x'")
    for act in (migrate, check_database):
        with pytest.raises(ConfigError, match=r"^This database was made before 0\.1\.0 and ends with"):
            await act(database_url)
    assert await connection.fetchval("select string_agg(name, ',') from schema_migrations") == "0001_spine"
    await connection.close()
