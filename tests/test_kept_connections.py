"""Sessions that outlive a connection: the next one has the backend and its plans, and nothing else of it."""

import asyncio
import json

import asyncpg
import pytest

from core.db.serving import ROLE
from tests.eventually import eventually

_PID = "select pg_backend_pid()"


async def test_the_next_connection_has_the_backend_of_the_one_before(database_url: str) -> None:
    first = await asyncpg.connect(database_url)
    pid = await first.fetchval(_PID)
    await first.close()
    assert first.is_closed()
    second = await asyncpg.connect(database_url)
    assert await second.fetchval(_PID) == pid
    assert second is not first
    with pytest.raises(asyncpg.InterfaceError):
        await first.fetchval(_PID)
    await second.close()


async def test_nothing_that_a_session_set_is_left_to_the_next(database_url: str) -> None:
    heard: list[object] = []
    first = await asyncpg.connect(database_url)
    await first.add_listener("news", lambda *news: heard.append(news))
    await first.execute("set onevalet.tenant = 'tn_1'; set statement_timeout = '5min'; create temp table own (n int)")
    await first.execute("select pg_advisory_lock(7); begin; insert into own values (1)")
    await first.execute(f"set role {ROLE}")
    await first.close()
    second = await asyncpg.connect(database_url)
    assert await second.fetchval("select current_setting('onevalet.tenant', true)") in (None, "")
    assert await second.fetchval("select current_setting('statement_timeout')") == "0"
    assert await second.fetchval("select current_user") != ROLE
    assert await second.fetchval("select to_regclass('own')") is None
    assert (
        await second.fetchval("select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'")
        == 0
    )
    await second.execute("notify news")
    await second.close()
    assert heard == []


async def test_a_codec_that_the_session_has_forgets_no_statement(database_url: str) -> None:
    asked, prepared = "select '[1]'::jsonb", "select count(*) from pg_prepared_statements where statement = $1"
    seen: list[tuple[object, int]] = []
    for decoder in (str, str, json.loads):
        connection = await asyncpg.connect(database_url)
        await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=str, decoder=decoder, format="text")
        seen.append((await connection.fetchval(asked), await connection.fetchval(prepared, asked)))
        await connection.close()
    assert seen == [("[1]", 1), ("[1]", 1), ([1], 2)]


async def test_each_login_and_role_has_sessions_of_its_own(database_url: str) -> None:
    owner = await asyncpg.connect(database_url)
    name = await owner.fetchval("select current_user")
    await owner.close()
    serving = await asyncpg.connect(database_url, server_settings={"role": ROLE})
    assert await serving.fetchval("select current_user") == ROLE
    await serving.close()
    again = await asyncpg.connect(database_url)
    assert await again.fetchval("select current_user") == name
    await again.close()


async def test_a_session_that_has_ended_is_given_to_nobody(database_url: str) -> None:
    first, killer = await asyncio.gather(asyncpg.connect(database_url), asyncpg.connect(database_url))
    pid = await first.fetchval(_PID)
    await first.close()
    await killer.fetchval("select pg_terminate_backend($1)", pid)
    gone = "select not exists (select from pg_stat_activity where datname = current_database() and pid = $1)"
    await eventually(lambda: killer.fetchval(gone, pid), "the backend's end")
    second = await asyncpg.connect(database_url)
    assert await second.fetchval(_PID) != pid
    await second.close()
    await killer.close()


@pytest.mark.parametrize("turns", range(4))
async def test_who_is_cancelled_while_opening_or_closing_leaves_nothing_open(database_url: str, turns: int) -> None:
    async def use() -> None:
        connection = await asyncpg.connect(database_url)
        await connection.close()

    await use()
    using = asyncio.create_task(use())
    for _ in range(turns):
        await asyncio.sleep(0)
    using.cancel()
    await asyncio.gather(using, return_exceptions=True)
    await use()


@pytest.mark.usefixtures("new_sessions")
async def test_where_it_is_the_subject_every_session_is_new(database_url: str) -> None:
    first = await asyncpg.connect(database_url)
    pid = await first.fetchval(_PID)
    await first.close()
    second = await asyncpg.connect(database_url)
    assert await second.fetchval(_PID) != pid
    await second.close()
