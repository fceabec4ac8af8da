"""A database that the newest code migrated serves the code of the previous release, which runs beside it meanwhile."""

from dataclasses import replace

import asyncpg
import pytest

from core.db.sql_files import load_migrations
from tests.upgrade.shape import PREVIOUS_SHAPE, Function, Shape, breaks, read_shape


async def test_what_the_previous_release_calls_reads_and_writes_is_still_there(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    shape = await read_shape(connection)
    await connection.close()
    previous = Shape.from_json(PREVIOUS_SHAPE.read_text())
    broken = breaks(previous, shape)
    # A release may take away what the one before still needs: `migrate --check` then says who has to stop first.
    newer = [migration for migration in load_migrations() if migration.number > previous.newest]
    if all((migration.serves_from or 0) <= previous.newest for migration in newer):
        assert broken == [], "keep it for one release: see CONTRIBUTING.md, Add a migration"


SUM = Function("sum", optional=1, arguments=["p_a integer", "p_b integer"], result=["n integer", "text text"])
OLD = Shape(
    1, {"sum(integer,integer)": SUM}, {"things": {"id": "text needed", "n": "integer"}}, {"pair": {"a": "text"}}
)


def test_what_is_only_added_breaks_nothing() -> None:
    wider = replace(SUM, optional=2, arguments=[*SUM.arguments, "p_c integer"], result=[*SUM.result, "more text"])
    columns = {"id": "text", "n": "integer", "more": "integer"}
    new = Shape(2, {"sum(integer,integer,integer)": wider}, {"things": columns, "others": {}}, OLD.types)
    assert breaks(OLD, new) == []


@pytest.mark.parametrize(
    "changed",
    [
        replace(SUM, name="total"),
        replace(SUM, arguments=["p_a integer", "p_c integer"]),
        replace(SUM, arguments=["p_a integer"], optional=0),
        replace(SUM, arguments=[*SUM.arguments, "p_c integer"]),
        replace(SUM, optional=0),
        replace(SUM, result=["n integer"]),
        replace(SUM, result=["n bigint", "text text"]),
    ],
    ids=["name", "parameter", "fewer", "one more", "no default", "result", "type"],
)
def test_a_function_that_old_calls_do_not_fit_is_named(changed: Function) -> None:
    new = Shape(2, {"other": changed}, OLD.tables, OLD.types)
    assert breaks(OLD, new) == ["function sum(integer,integer) cannot be called, or returns something else"]


@pytest.mark.parametrize(
    ("columns", "broken"),
    [
        ({"id": "text needed"}, "column things.n is gone"),
        ({"id": "text needed", "n": "bigint"}, "column things.n was integer, and is bigint"),
        ({"id": "text needed", "n": "integer needed"}, "column things.n was integer, and is integer needed"),
        ({"id": "text needed", "n": "integer", "m": "text needed"}, "column things.m is new and has no default"),
    ],
)
def test_a_column_that_old_code_cannot_do_with_is_named(columns: dict[str, str], broken: str) -> None:
    assert breaks(OLD, Shape(2, OLD.functions, {"things": columns}, OLD.types)) == [broken]


def test_a_table_that_goes_is_named() -> None:
    assert breaks(OLD, Shape(2, OLD.functions, {}, OLD.types)) == ["table things is gone"]


def test_a_type_takes_more_fields_unless_code_sends_arrays_of_it() -> None:
    wider = {"pair": {"a": "text", "b": "text"}}
    assert breaks(OLD, Shape(2, OLD.functions, OLD.tables, wider)) == []
    assert breaks(OLD, Shape(2, OLD.functions, OLD.tables, {})) == ["type pair is gone or has other fields"]
    taking = {"sum(pair[])": Function("sum", 0, ["p_pairs pair[]"], ["integer"])}
    assert breaks(Shape(1, taking, {}, OLD.types), Shape(2, taking, {}, wider)) == [
        "type pair is gone or has other fields"
    ]
