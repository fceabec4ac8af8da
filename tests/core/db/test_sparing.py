"""A process keeps to few connections, and takes more only if those it has are all held up."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from core.db import sparing
from core.db.database import Database
from core.errors import StoreUnavailable

_OPEN = "select count(*)::int from pg_stat_activity where application_name = 'sparing' and datname = current_database()"
_HELD = "select pg_advisory_xact_lock_shared(4711)"


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url, size=12, name="sparing")
    yield database
    await database.close()


async def test_many_statements_at_once_share_few_connections(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparing, "WAIT", 60.0)
    await asyncio.gather(*(database.rows("select $1::int", number) for number in range(10 * sparing.FEW)))
    assert (await database.one(_OPEN))["count"] == sparing.FEW


async def test_connections_that_are_all_held_up_stop_nobody_else(database: Database, database_url: str) -> None:
    admin = await asyncpg.connect(database_url)
    await admin.execute("select pg_advisory_lock(4711)")
    held = [asyncio.create_task(database.rows(_HELD)) for _ in range(2 * sparing.FEW)]
    assert (await database.one("select 1 as n"))["n"] == 1
    assert not any(each.done() for each in held)
    await admin.close()
    await asyncio.gather(*held)


async def test_what_fails_or_is_given_up_keeps_no_connection_from_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparing, "WAIT", 60.0)
    for _ in range(2 * sparing.FEW):
        with pytest.raises(asyncpg.PostgresError):
            await database.rows("select 1 / 0")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await database.rows("select pg_sleep(60)")
        with pytest.raises(ValueError, match="ours"):
            async with database.tenant("t1"):
                raise ValueError("ours")
    await database.rows("select 1")


async def test_a_server_that_is_away_keeps_no_connection_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparing, "WAIT", 60.0)
    database = Database("postgresql://nobody@127.0.0.1:1/none", patience=0.2)
    for _ in range(2 * sparing.FEW):
        with pytest.raises(StoreUnavailable, match="ConnectionRefusedError"):
            await database.rows("select 1")
    await database.close()
