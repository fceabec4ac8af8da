"""The text of function files is taken apart as `migrate` does it, statement by statement."""

import re

from core.db.sql_files import SqlFile, load_functions
from onevalet.migrating import all_functions, sql_of_abilities
from tests.shipping.harness import read


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


def test_the_page_has_what_functions_ask_abilities() -> None:
    files = [*load_functions(), *(file for ability in sql_of_abilities() for file in ability.functions())]
    asked = {name for file in files for name in re.findall(r"(?:from|by) their sql/(\w+)\.sql\.\n", file.sql)}
    listed = read("docs/extending.md").partition("The files in `sql/`")[2].partition("\n## ")[0]
    told = re.findall(r"^- (?:of `\w+`: )?(`[\w`, ]+`)(?: \(|:)", listed, re.MULTILINE)
    assert {name for names in told for name in re.findall(r"\w+", names)} == asked


def test_a_migration_says_what_it_stands_for() -> None:
    plain = SqlFile("0001_all", "create table all ();")
    assert (plain.stands_for, plain.catch_up) == ("", "")
    squashed = SqlFile("0001_all", f"-- stands for 0061_last {'a' * 64}\n-- catch up: select 1;\ncreate table all ();")
    assert (squashed.stands_for, squashed.catch_up) == ("a" * 64, "select 1;")
