"""No two functions lock the rows of a turn, a message and a decision in two orders: none of them ever deadlocks."""

import asyncio
import itertools
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple

import asyncpg
import pytest

from tests.core.db.locking_calls import CALLS, Names, filled, make_moment
from tests.core.db.locking_functions import MEETING, read_bodies
from tests.core.harness import Store
from tests.eventually import eventually
from tests.examples import sized

ORDER = (
    "tenants", "conversations", "lanes", "approvals", "turns", "outbound", "outbound_parts", "notifications",
    "channel_state",
)  # fmt: skip
"""The order of docs/architecture.md, "Locks"."""

ELSEWHERE = frozenset({"keep_notification", "enqueue_digest"})
"""Calls that only add a message; what they lock before is in the order too."""

ROUNDS = sized(2, full=200)
"""The full size takes nine minutes: `bin/test --full tests/core/db/test_lock_pairs.py`."""

# The person's conversations, lanes and messages are all locked by then: what follows waits for nobody.
AFTER_ALL = frozenset({"delete_tenant"})

_FILLED = (
    "select relname::text from pg_class where relnamespace = 'public'::regnamespace and reltuples > 0 and relkind = 'r'"
)

type _Connection = asyncpg.Connection[asyncpg.Record]
type _Rows = Mapping[str, frozenset[str]]
"""The rows of each table, as their places in it."""


def _function(call: str) -> str:
    return call.partition(" ")[0]


def _whole(call: str, names: Names) -> str:
    """Return a call as one transaction that leaves nothing behind, with all that its end would do."""
    return f"begin; {filled(CALLS[call], names)}; set constraints all immediate"


async def _held(looking: _Connection, tables: Iterable[str], against: str = "no key update") -> _Rows:
    """Return the rows that some transaction holds against a lock; against an update also what points to them counts."""
    found = {}
    for table in tables:
        free = await looking.fetch(f"select ctid::text from {table} for {against} skip locked")  # noqa: S608
        rows = await looking.fetch(f"select ctid::text from {table}")  # noqa: S608
        if held := {row[0] for row in rows} - {row[0] for row in free}:
            found[table] = frozenset(held)
    return found


@asynccontextmanager
async def _connected(store: Store, count: int) -> AsyncIterator[list[_Connection]]:
    async with AsyncExitStack() as stack:
        connections = []
        for _ in range(count):
            connection = await asyncpg.connect(store.url)
            stack.push_async_callback(connection.close)
            connections.append(connection)
        yield connections


async def test_no_function_that_locks_lanes_messages_or_approvals_is_forgotten(store: Store) -> None:
    bodies = await read_bodies(store.admin)
    called = {name for names in bodies.calls.values() for name in names}
    found = bodies.meeting() - bodies.triggers
    covered = {_function(call) for call in CALLS}
    assert covered <= found
    # What no other function calls is called from outside: it has to be in the table.
    assert found - called <= covered, "say in locking_calls.py how they are called"
    assert bodies.meeting() >= {"lock_lane", "lock_outbound", "start_approval"}


async def test_each_call_alone_locks_what_it_is_in_the_table_for(store: Store) -> None:
    names = await make_moment(store)
    async with _connected(store, 2) as (working, looking):
        idle = []
        for call in CALLS:
            await working.execute(_whole(call, names))
            if not await _held(looking, MEETING) and call not in ELSEWHERE:
                idle.append(call)
            await working.execute("rollback")
    assert idle == []


@pytest.mark.whole("it tries every pair of calls")
async def test_no_call_waits_for_a_row_that_comes_before_one_it_holds(store: Store) -> None:
    names = await make_moment(store)
    wrong = []
    async with _connected(store, 3) as (working, looking, holding):
        for call in CALLS:
            await working.execute(_whole(call, names))
            held = await _held(looking, ORDER)
            await working.execute("rollback")
            for table, rows in held.items():
                waits = _Wait(working, looking, holding, _whole(call, names))
                after = [t for t in await waits.held_before(table, rows) if ORDER.index(t) > ORDER.index(table)]
                wrong += [f"{call}: {other} before {table}" for other in after if call not in AFTER_ALL]
    assert not wrong, "\n".join(wrong)


class _Wait(NamedTuple):
    """A call on one connection that waits for rows that another holds, while a third looks."""

    working: _Connection
    looking: _Connection
    holding: _Connection
    call: str

    async def held_before(self, table: str, rows: frozenset[str]) -> list[str]:
        """Return the tables of which the call holds rows while it waits for these."""
        async with self.holding.transaction():
            places = ",".join(f'"{row}"' for row in sorted(rows))
            await self.holding.execute(f"select from {table} where ctid = any ('{{{places}}}') for no key update")
            running = asyncio.ensure_future(self.working.execute(self.call))
            pid = self.working.get_server_pid()

            async def waits() -> bool:
                asked = "select exists (select from pg_locks where not granted and pid = $1)"
                return running.done() or bool(await self.looking.fetchval(asked, pid))

            await eventually(waits, "a call that waits or ends")
            others = [other for other in ORDER if other != table]
            before = [] if running.done() else list(await _held(self.looking, others))
        await running
        await self.working.execute("rollback")
        return before


@pytest.mark.whole("it makes each two calls at once, whose order the test before it holds")
@pytest.mark.timeout(sized(300, full=1800))
async def test_no_two_calls_deadlock(store: Store) -> None:
    found = await _deadlocks(store, ROUNDS)
    assert not found, "\n".join(found)


async def _deadlocks(store: Store, rounds: int) -> list[str]:
    """Run each two calls at once that may wait for each other, so many times; return those that met a deadlock."""
    names = await make_moment(store)
    whole = {call: _whole(call, names) for call in CALLS}
    met: dict[str, int] = defaultdict(int)
    async with _connected(store, 3) as (one, other, looking):
        for connection in (one, other):
            await connection.execute("set deadlock_timeout = '50ms'")
        pairs = await _pairs(one, looking, names)
        for first, second in pairs:
            ends = await asyncio.gather(_run(one, whole[first], rounds), _run(other, whole[second], rounds))
            met[f"{first} and {second}"] += sum(ends)
        # What the server counted: a deadlock that a function hid would be missing above.
        await one.execute("select pg_stat_force_next_flush()")
        await other.execute("select pg_stat_force_next_flush()")
        counted = await looking.fetchval("select deadlocks from pg_stat_database where datname = current_database()")
    found = [pair for pair, count in met.items() if count]
    assert bool(counted) == bool(found)
    return found


async def _pairs(working: _Connection, looking: _Connection, names: Names) -> list[tuple[str, str]]:
    """Return the pairs that want two rows in common: with fewer, neither can hold what the other waits for."""
    held: dict[str, set[tuple[str, str]]] = {}
    shared: dict[str, set[tuple[str, str]]] = {}
    await looking.execute("analyze")
    tables = [row[0] for row in await looking.fetch(_FILLED)]
    for call in CALLS:
        await working.execute(_whole(call, names))
        among = await _held(looking, tables, "update")
        shared[call] = {(table, row) for table, rows in among.items() for row in rows}
        held[call] = {(table, row) for table, rows in (await _held(looking, among)).items() for row in rows}
        await working.execute("rollback")
    return [
        (first, second)
        for first, second in itertools.combinations_with_replacement(CALLS, 2)
        if len(held[first] & shared[second] | shared[first] & held[second]) > 1
    ]


async def _run(connection: _Connection, call: str, rounds: int) -> bool:
    """Run a call and take it back, again and again; return whether it met a deadlock."""
    try:
        await connection.execute("; ".join([f"{call}; rollback"] * rounds))
    except asyncpg.DeadlockDetectedError:
        await connection.execute("rollback")
        return True
    return False
