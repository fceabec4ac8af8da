"""A process keeps to few connections, and takes more only if those it has are all held up."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from core.db import database as databases
from core.db.database import FEW, Database
from core.errors import StoreUnavailable
from tests.eventually import eventually

_OPEN = "select count(*)::int from pg_stat_activity where application_name = 'few' and datname = current_database()"
_HELD = "select pg_advisory_xact_lock_shared(4711)"

_WAITS = (
    "select pid from pg_stat_activity where application_name = 'few' and datname = current_database()"
    " and wait_event_type = 'Lock'"
)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url, size=12, name="few")
    yield database
    await database.close()


async def test_many_statements_at_once_share_few_connections(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "WAIT", 60.0)
    await asyncio.gather(*(database.rows("select $1::int", number) for number in range(10 * FEW)))
    assert (await database.one(_OPEN))["count"] == FEW


async def test_connections_that_are_all_held_up_stop_nobody_else(database: Database, database_url: str) -> None:
    admin = await asyncpg.connect(database_url)
    await admin.execute("select pg_advisory_lock(4711)")
    held = [asyncio.create_task(database.rows(_HELD)) for _ in range(2 * FEW)]
    assert (await database.one("select 1 as n"))["n"] == 1
    assert not any(each.done() for each in held)
    await admin.close()
    await asyncio.gather(*held)


async def test_what_fails_or_is_given_up_keeps_no_connection_from_others(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "WAIT", 60.0)
    admin = await asyncpg.connect(database_url)
    await admin.execute("select pg_advisory_lock(4711)")

    async def is_held() -> object:
        return await admin.fetchval(_WAITS)

    for _ in range(2 * FEW):
        with pytest.raises(asyncpg.PostgresError):
            await database.rows("select 1 / 0")
        given_up = asyncio.create_task(database.rows(_HELD))
        await eventually(is_held, "a statement that waits for the lock")
        given_up.cancel()
        await asyncio.wait([given_up])
        with pytest.raises(ValueError, match="ours"):
            async with database.tenant("t1"):
                raise ValueError("ours")
    await database.rows("select 1")
    await admin.close()


async def test_a_server_that_is_away_keeps_no_connection_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "WAIT", 60.0)
    database = Database("postgresql://nobody@127.0.0.1:1/none", patience=0.2)
    for _ in range(2 * FEW):
        with pytest.raises(StoreUnavailable, match="ConnectionRefusedError"):
            await database.rows("select 1")
    await database.close()
