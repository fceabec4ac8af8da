"""What a message costs Postgres does not grow with what waits: counted in rows that are read, as times tell less."""

import asyncpg
import pytest

from core.db.database import Database
from core.inbox.arrival import of_message
from tests.core.harness import OPEN, Store, message

pytestmark = pytest.mark.slow

PHONE = "+15550000001"
_WAITING = """
with t as (insert into tenants (tenant_id) select 'tn_' || n from generate_series($1::int, $2::int) n
           returning tenant_id),
i as (insert into identities (tenant_id, id, channel, account, user_key, admitted)
      select tenant_id, 'i_' || tenant_id, 'sms', 'a', tenant_id, 'open' from t returning tenant_id, id),
c as (insert into conversations (tenant_id, id, identity_id, channel, account, peer)
      select tenant_id, 'c_' || tenant_id, id, 'sms', 'a', tenant_id from i returning tenant_id, id),
l as (insert into lanes (tenant_id, id, conversation_id, pending, pending_since)
      select tenant_id, id, id, true, now() from c returning tenant_id)
insert into inbound (tenant_id, id, conversation_id, seq, text) select tenant_id, 'm_' || tenant_id, id, 1, '' from c
"""
_READ = """
select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0) from pg_stat_xact_user_tables
where relname <> 'waiting_counts'
"""
"""Counts what the connection has read lately, earlier transactions included: Postgres collects counts for a second.

Not the counts of waiting messages: they have up to 64 rows, by the numbers of the processes that have counted.
"""


async def rows_read(store: Store) -> int:
    """Return how many rows of all tables are read to receive a message of somebody known."""
    database = Database(store.url, size=1)
    arrival = of_message(message("again", PHONE), PHONE, OPEN, store.make_id)
    try:
        async with database.tenant("") as connection:
            before = await connection.fetchval(_READ)
            await connection.fetch("select * from receive_messages($1,$2,$3,$4)", [arrival], 100, 100_000, True)
            return int(await connection.fetchval(_READ) - before)
    finally:
        await database.close()


async def waits(admin: "asyncpg.Connection[asyncpg.Record]", first: int, last: int) -> None:
    """Let one message of each of these people wait."""
    await admin.execute(_WAITING, first, last)
    await admin.execute("analyze")


async def test_what_waits_is_not_read_when_a_message_comes_in(store: Store) -> None:
    await store.inbox.accept(message("hello", PHONE))
    await waits(store.admin, 1, 50)
    few = await rows_read(store)
    await waits(store.admin, 51, 2000)
    many = min([await rows_read(store) for _ in range(3)])  # one of them may begin a new window of a limit
    # Postgres' statistics are samples: another plan may read a few rows more, but not the 1,950 that wait since.
    assert 0 < many <= few + 10, (few, many)
