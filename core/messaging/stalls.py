"""Stalls in all processes: messages that wait for too long, ways in that no process polls, a lack of workers."""

import time
from collections.abc import Callable

from core.db.database import Database
from core.errors import StoreUnavailable

WAITS_LONG = 60.0
"""Seconds of waiting for a worker after which a message counts as stalled."""
UNSENT_LONG = 300.0
"""Seconds of waiting to be sent after which a message counts as stalled."""
FRESH = 5.0
"""Seconds for which a result is reused: anybody may ask for the health of a web process."""

POLL_TROUBLED = "its poll meets a problem"
"""The phrase for it in every process, also those that do not poll; `doctor` has the provider's words."""

# Ages by the database's clock, which also wrote the times: the clock of a machine may be wrong.
OLDEST = """
select coalesce(extract(epoch from clock_timestamp() - waiting), 0)::float8 as waiting,
       coalesce(extract(epoch from clock_timestamp() - to_send), 0)::float8 as to_send, is_halted() as halted
from console_oldest()
"""
# A process that ends well releases its lease, so that an account that is no longer polled does not count as stalled.
POLLERS = """
select channel, bool_or(lease_until < clock_timestamp()) as unpolled, bool_or(poll_problem <> '') as troubled
from channel_state where owner is not null group by channel order by channel
"""
_WORKERS = "select from worker_health where seen_at > clock_timestamp() - interval '1 minute' limit 1"


class Stalls:
    """Read the stalls, at most once in a few seconds."""

    def __init__(self, database: Database, now: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._now = now
        self._known: tuple[str, ...] = ()
        self._read_at = float("-inf")

    async def known(self) -> tuple[str, ...]:
        """Return a phrase for each stall; none while Postgres is away, which is reported elsewhere."""
        if self._now() - self._read_at > FRESH:
            try:
                self._known = await read_stalls(self._database)
            except StoreUnavailable:
                return ()
            self._read_at = self._now()
        return self._known


async def read_stalls(database: Database) -> tuple[str, ...]:
    """Return a phrase for each stall, without ids. Raises `StoreUnavailable`."""
    oldest = await database.one(OLDEST)
    stalls = []
    if not await database.rows(_WORKERS):
        stalls.append("no worker was seen in the last minute")
    if oldest["halted"]:
        stalls.append("all work is halted, until an owner lifts it")
    if oldest["waiting"] > WAITS_LONG:
        stalls.append(f"the oldest message has waited for a worker for {oldest['waiting']:.0f} s")
    if oldest["to_send"] > UNSENT_LONG:
        stalls.append(f"the oldest message to be sent is {oldest['to_send']:.0f} s old")
    for row in await database.rows(POLLERS):
        if row["unpolled"]:
            stalls.append(f"{row['channel']}: nobody polls it")
        elif row["troubled"]:
            stalls.append(f"{row['channel']}: {POLL_TROUBLED}")
    return tuple(stalls)
