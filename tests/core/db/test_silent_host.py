"""A transaction on a host that goes silent ends with its patience, or with its statement's own time."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from core.db import database as database_module
from core.db.database import Connection, Database
from core.errors import StoreUnavailable
from tests.faults.proxy import Proxy, Trouble, proxied

SOON = 10.0
"""Seconds: far beyond the times of these tests, and half of what one statement may take."""


@asynccontextmanager
async def behind_a_wire(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Database, Proxy]]:
    """Yield a database with one open connection, and the wire to it."""
    monkeypatch.setattr(database_module, "RELEASE", 0.2)
    port = urlsplit(database_url).port
    assert port is not None
    async with proxied(port) as proxy:
        database = Database(database_url.replace(f":{port}/", f":{proxy.port}/"), patience=0.5, size=1)
        try:
            async with database.tenant("ann") as connection:
                await connection.execute("select 1")
            yield database, proxy
        finally:
            proxy.be(Trouble.NONE)
            await database.close()


async def in_a_transaction(database: Database, work: Callable[[Connection], Awaitable[None]]) -> None:
    async with database.tenant("ann") as connection:
        await work(connection)


@pytest.mark.whole("it waits for a limit of real time")
async def test_a_transaction_that_cannot_begin_ends_with_its_patience(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with behind_a_wire(database_url, monkeypatch) as (database, proxy):
        proxy.be(Trouble.BLACK_HOLE)
        began = time.monotonic()
        with pytest.raises(StoreUnavailable):
            await database.tenant_rows("ann", "select $1")
        assert time.monotonic() - began < SOON


async def test_a_statement_that_is_not_answered_ends_with_its_own_time(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def asks(connection: Connection) -> None:
        proxy.be(Trouble.BLACK_HOLE)
        await connection.fetch("select 1", timeout=0.3)

    async with behind_a_wire(database_url, monkeypatch) as (database, proxy):
        began = time.monotonic()
        with pytest.raises(StoreUnavailable):
            await in_a_transaction(database, asks)
        assert time.monotonic() - began < SOON


async def test_who_is_cancelled_does_not_wait_for_a_silent_host(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = asyncio.Event()

    async def asks(connection: Connection) -> None:
        proxy.be(Trouble.BLACK_HOLE)
        asking.set()
        await connection.fetch("select 1")

    async with behind_a_wire(database_url, monkeypatch) as (database, proxy):
        call = asyncio.create_task(in_a_transaction(database, asks))
        await asking.wait()
        began = time.monotonic()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert time.monotonic() - began < SOON
        assert call.cancelled()


async def test_after_the_silence_transactions_are_as_before(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with behind_a_wire(database_url, monkeypatch) as (database, proxy):
        proxy.be(Trouble.BLACK_HOLE)
        with pytest.raises(StoreUnavailable):
            await database.tenant_rows("ann", "select $1")
        proxy.be(Trouble.NONE)
        (row,) = await database.tenant_rows("ann", "select $1::text as one")
        assert row["one"] == "ann"
