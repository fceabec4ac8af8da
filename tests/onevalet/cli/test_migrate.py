"""The command `migrate`, as an operator runs it."""

import asyncpg
import pytest

from core.db.pending import DatabaseState
from core.db.sql_files import SqlFile, load_migrations
from onevalet.cli.migrate import describe
from tests.onevalet.cli.harness import Operator


@pytest.mark.slow
async def test_a_database_from_before_the_release_is_refused_with_exit_2(operator: Operator, database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute("update schema_migrations set number = 47, name = '0047_prompts', checksum = 'old'")
    await connection.close()
    code, out, errors = await operator.run("migrate")
    assert (code, out) == (2, "")
    assert errors.startswith("This database was made before 0.1.0")
    assert errors.count("\n") == 1


async def test_check_says_by_its_exit_code_how_the_database_stands(operator: Operator, database_url: str) -> None:
    newest = load_migrations()[-1]
    told = await operator.run("migrate", "--check")
    assert told == (0, f"The database is up to date: migration {newest.number}.\n", "")
    connection = await asyncpg.connect(database_url)
    await connection.execute("delete from schema_ability_migrations where ability = 'mail'")
    await connection.execute("delete from schema_functions where name in ('inbox', 'turns')")
    code, out, _ = await operator.run("migrate", "--check")
    assert code == 1
    assert out.startswith("3 migrations and 2 files of functions are pending:\n")
    assert "  mail/0003_no_switch: safe\n  functions inbox, turns: safe\n" in out
    await connection.execute("insert into schema_migrations (number, name, checksum) values (9000, 'later', '')")
    code, out, _ = await operator.run("migrate", "--check")
    assert (code, out.count("\n")) == (3, 1)
    assert "It still serves this code, and there is nothing to apply." in out
    await connection.close()


def test_what_older_code_cannot_bear_is_named_with_what_goes() -> None:
    expands = SqlFile("0003_more", "create table more ();")
    contracts = SqlFile("0004_less", "-- serves code from 0003 on: the column old of things goes.\nselect 1;")
    at_work = DatabaseState(2, 4, migrations=(expands, contracts), functions=("sums",))
    assert describe(at_work) == (
        "2 migrations and 1 file of functions are pending:\n"
        "  0003_more: safe\n"
        "  0004_less: only once all code from before migration 3 has stopped: the column old of things goes\n"
        "  functions sums: only then\n"
        "Stop the processes of the previous version, then run `migrate`."
    )
    expanded = DatabaseState(3, 4, migrations=(contracts,))
    assert describe(expanded).endswith("  0004_less: safe\nAll of it is safe while the previous version is running.")


def test_a_database_that_serves_newer_code_only_is_called_so() -> None:
    newer = "The database is newer than this code: it has migration 9, this code ends with 4."
    assert describe(DatabaseState(9, 4, 5)) == f"{newer} It serves code from migration 5 on: deploy newer code."


def test_an_empty_database_needs_all_of_it() -> None:
    empty = DatabaseState(0, 1, migrations=(SqlFile("0001_first", ""),))
    assert describe(empty) == "1 migration is pending:\n  all of them: the database is empty"
