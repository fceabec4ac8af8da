"""Wait until sessions of a test's own database wait for each other."""

from collections.abc import Awaitable, Callable

from tests.eventually import eventually

# Not pg_stat_activity, which stays as it was while a transaction looks. A lock on a row names no database, but who
# waits for it holds locks that do.
_BLOCKED = """
select count(distinct waiting.pid) from pg_locks waiting where not waiting.granted and exists (
    select from pg_locks held join pg_database d on d.oid = held.database
    where held.pid = waiting.pid and d.datname = current_database()
)
"""


async def until_blocked(one: Callable[[str], Awaitable[object]], count: int = 1) -> None:
    """Wait until so many sessions are blocked; `one` returns the only value of a statement."""

    async def look() -> bool:
        return await one(_BLOCKED) == count

    await eventually(look, f"{count} sessions that wait for a lock")
