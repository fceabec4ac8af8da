"""The text of function files is taken apart as `migrate` does it, statement by statement."""

from core.db.sql_files import SqlFile
from onevalet.migrating import all_functions


def test_every_statement_of_a_function_file_is_one_piece() -> None:
    for file in all_functions():
        pieces = file.pieces()
        assert "".join(text for _, text in pieces) == file.sql
        assert [name for name, _ in pieces if name] == file.functions
        for name, text in pieces:
            assert text.count("$$") % 2 == 0, f"{file.name}: a line within {name} begins with create"


def test_a_migration_says_whom_it_serves() -> None:
    assert SqlFile("0001_all", "create table all ();").serves_from is None
    one = SqlFile("0002_less", "-- serves code from 0001 on: the column x of y goes.\nalter table y drop column x;")
    assert (one.serves_from, one.takes_away) == (1, "the column x of y goes")
