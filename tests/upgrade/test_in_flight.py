"""Who is in a function of the previous release when a migration changes its tables comes out of it well."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg
import pytest

from core.db import in_flight
from core.db import migrate as migrating
from core.db.in_flight import wait_for_transactions
from core.db.sql_files import SqlFile
from core.errors import ConfigError
from onevalet.migrating import migrate
from tests.eventually import eventually
from tests.services import RunServices, empty_database
from tests.upgrade.previous import migrate_with, unpack

type _Connection = asyncpg.Connection[asyncpg.Record]

_ARRIVAL = {
    "channel": "sms", "account": "+15550000", "peer": "+15550001", "thread": "", "user_key": "+15550001",
    "keys": ["SM1"], "id": "m1", "provider_id": "SM1", "text": "hello", "subject": "", "media": [],
    "sent_at": None, "reply_to": "",
    "origin": "own", "name": "", "timezone": "", "language": "", "admit": "open", "role": "member",
    "listed_only": False, "new_tenant": "t1", "new_identity": "i1", "new_conversation": "c1", "outbound": "o1",
}  # fmt: skip
_RECEIVE = "select inbound_id, duplicate from receive_messages($1::jsonb, 100, 1000, true)"
_WAITS = "select cardinality(pg_blocking_pids($1)) > 0"


async def until_waiting(watcher: _Connection, pid: int) -> None:
    """Wait until another session keeps the one of a process id waiting."""
    await eventually(lambda: watcher.fetchval(_WAITS, pid), f"{pid} waits")


async def test_a_text_that_comes_while_the_keys_change_is_received(
    migrated_services: RunServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(empty_database(migrated_services))
        await migrate_with(unpack(tmp_path), url)
        holder, sender, watcher = [await asyncpg.connect(url) for _ in range(3)]
        for connection in (holder, sender, watcher):
            stack.push_async_callback(connection.close)
        apply: Callable[[_Connection, SqlFile], Awaitable[None]] = migrating._apply
        received: list[asyncpg.Record] = []

        async def arrive(migrator: int) -> None:
            await until_waiting(watcher, migrator)  # for inbox_keys; who writes has to wait for identities
            arriving = asyncio.create_task(sender.fetch(_RECEIVE, json.dumps([_ARRIVAL])))
            await until_waiting(watcher, sender.get_server_pid())
            await holder.execute("commit")
            received.extend(await arriving)

        async def apply_meanwhile(connection: _Connection, migration: SqlFile) -> None:
            if migration.name != "0048_directory":
                return await apply(connection, migration)
            await holder.execute("begin; lock table inbox_keys in access share mode")
            await asyncio.gather(apply(connection, migration), arrive(connection.get_server_pid()))
            return None

        monkeypatch.setattr(migrating, "_apply", apply_meanwhile)
        await migrate(url)
        assert [tuple(row) for row in received] == [("m1", False)]
        # The same text is known afterwards, by the functions of this release.
        again = await sender.fetch(_RECEIVE, json.dumps([_ARRIVAL | {"id": "m2"}]))
        assert [tuple(row) for row in again] == [("m1", True)]


async def test_transactions_that_have_begun_are_waited_for_and_no_others(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, looks = in_flight._in_flight, asyncio.Queue[set[str]]()

    async def look(connection: _Connection, lock: int) -> set[str]:
        seen = await real(connection, lock)
        looks.put_nowait(seen)
        return seen

    monkeypatch.setattr(in_flight, "_in_flight", look)
    ours, early, late = [await asyncpg.connect(database_url) for _ in range(3)]
    await early.execute("begin")
    waiting = asyncio.create_task(wait_for_transactions(ours, 7))
    begun = await looks.get()
    await late.execute("begin")
    while len(await looks.get()) == len(begun):
        assert not waiting.done()
    assert not waiting.done()
    await early.execute("commit")
    await waiting
    for connection in (ours, early, late):
        await connection.close()


async def test_who_waits_for_the_lock_is_not_waited_for(database_url: str) -> None:
    ours, other = [await asyncpg.connect(database_url) for _ in range(2)]
    await ours.execute("select pg_advisory_lock($1)", migrating.LOCK)
    queued = asyncio.create_task(other.execute("select pg_advisory_lock($1)", migrating.LOCK))
    await until_waiting(ours, other.get_server_pid())
    await wait_for_transactions(ours, migrating.LOCK, within=0.2)
    with pytest.raises(ConfigError, match="held a transaction open for too long"):
        await wait_for_transactions(ours, 7, within=0.2)
    await ours.execute("select pg_advisory_unlock($1)", migrating.LOCK)
    await queued
    await ours.close()
    await other.close()
