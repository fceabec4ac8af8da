"""Text as Postgres can store it, whatever a person, a provider or a model wrote."""

import asyncpg
import pytest

from core.db.database import Connection
from core.messaging.visible_text import literal
from tests.core.harness import Store

DIRTY, CLEAN = "a\x00b\ud800c\udfff", "ab\ufffdc\ufffd"
EACH_TYPE = [
    ("select $1::text as kept", DIRTY, CLEAN),
    ("select $1::varchar as kept", DIRTY, CLEAN),
    ("select $1::text[] as kept", [DIRTY, "fine"], [CLEAN, "fine"]),
    ("select $1::text[] as kept", (DIRTY,), [CLEAN]),
    ("select $1::text[] as kept", [[DIRTY], [DIRTY]], [[CLEAN], [CLEAN]]),
    ("select $1::jsonb as kept", {DIRTY: [DIRTY, {"deep": DIRTY}]}, {CLEAN: [CLEAN, {"deep": CLEAN}]}),
    ("select $1::jsonb as kept", DIRTY, CLEAN),
    ("select $1::bytea as kept", b"a\x00b", b"a\x00b"),
]


@pytest.mark.parametrize(("statement", "given", "kept"), EACH_TYPE)
async def test_any_text_argument_is_cleaned(store: Store, statement: str, given: object, kept: object) -> None:
    assert (await store.database.one(statement, given))["kept"] == kept
    async with store.database.tenant("tn_ann") as connection:
        assert await connection.fetchval(statement, given) == kept


async def each_way(connection: Connection) -> None:
    await connection.execute("insert into kept values ($1)", DIRTY)
    await connection.executemany("insert into kept values ($1)", [(DIRTY,), [DIRTY]])
    await connection.fetch("insert into kept values ($1)", DIRTY)
    await connection.fetchrow("insert into kept values ($1)", DIRTY)
    await connection.fetchval("insert into kept values ($1)", DIRTY)


async def test_each_way_to_run_a_statement_cleans_its_text(store: Store) -> None:
    async with store.database.tenant("tn_ann") as connection:
        await connection.execute("create temporary table kept (text text)")
        await each_way(connection)
        rows = await connection.fetch("select text from kept")
    assert [row["text"] for row in rows] == [CLEAN] * 6


async def test_exactly_one_row_is_one_row(store: Store) -> None:
    assert (await store.database.one("select 7 as n"))["n"] == 7
    for several in ("select 1 where false", "select generate_series(1, 2)"):
        with pytest.raises(ValueError, match="values to unpack"):
            await store.database.one(several)


async def test_a_superusers_own_connection_shows_what_would_be_refused(store: Store) -> None:
    with pytest.raises(asyncpg.CharacterNotInRepertoireError):
        await store.admin.fetchval("select $1::text", "a\x00b")


async def test_a_line_is_written_literally_by_sql_as_by_python(store: Store) -> None:
    for line in ("*b* _i_ __b__ a_b@c.de", "`c` ~~s~~ [x](y) <u> \\*", "&lt; & &#60; &x", "5_ _6 ü_x", ""):
        assert (await store.database.one("select literal($1) as written", line))["written"] == literal(line)
