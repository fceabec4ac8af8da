"""Wait for the transactions that are in flight: those that have called a function keep its old text."""

import asyncio
import time

import asyncpg

from core.errors import ConfigError

WAIT = 120.0
"""Seconds for which transactions are waited for."""
_POLL = 0.05

# A session that waits for this lock waits for us. A bigint's halves are a lock's classid and objid.
# https://www.postgresql.org/docs/current/view-pg-locks.html
_IN_FLIGHT = """
select l.virtualxid from pg_locks l join pg_stat_activity a on a.pid = l.pid
where l.locktype = 'virtualxid' and l.mode = 'ExclusiveLock' and l.granted and l.pid <> pg_backend_pid()
  and a.datname = current_database() and a.usesysid is not null
  and not exists (
      select from pg_locks w where w.pid = l.pid and w.locktype = 'advisory' and not w.granted and w.objsubid = 1
        and (w.classid::bigint << 32 | w.objid::bigint) = $1)
"""


async def wait_for_transactions(
    connection: "asyncpg.Connection[asyncpg.Record]", lock: int, *, within: float = WAIT
) -> None:
    """Wait until the transactions of other sessions of this database that have begun are over.

    Sessions that wait for the advisory lock `lock`, which the caller holds, are left out. Raises `ConfigError` if a
    transaction takes longer than `within` seconds.
    """
    deadline = time.monotonic() + within
    left = await _in_flight(connection, lock)
    while left:
        if time.monotonic() > deadline:
            raise ConfigError(
                "Another session has held a transaction open for too long: end what runs for long, such as a dump, then"
                " migrate again."
            )
        await asyncio.sleep(_POLL)
        left &= await _in_flight(connection, lock)


async def _in_flight(connection: "asyncpg.Connection[asyncpg.Record]", lock: int) -> set[str]:
    return {row["virtualxid"] for row in await connection.fetch(_IN_FLIGHT, lock)}
