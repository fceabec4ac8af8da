"""Claim and reschedule due tasks, among many tasks: by cron in several zones, of many people.

    uv run -m workbench.benchmarks.triggers [--tasks 100000] [--tasks 1000000]

A Postgres of its own. Each round makes 10,000 tasks due and takes them as a worker does: claim, next occurrence, write
back, start the runs, several batches at once. The floor, in the same run, is a claim alone that only reschedules 1,000
rows at a time, in one statement. CPU is ours and all of Postgres', a task.
Memory is this process' own, before and after all rounds.
"""

import argparse
import asyncio
import os
import resource
import statistics
import sys
import time
from datetime import UTC, datetime, timedelta

import asyncpg
import psutil

from abilities.tasks.runner import BATCHES_AT_ONCE
from abilities.tasks.runs.firing import fire_due
from core.db.database import Database
from core.ids import make_id
from onevalet.migrating import migrate
from tests.services import private_postgres
from workbench.benchmarks.cpu import cpu_of

DUE = 10_000
PEOPLE = 5000
NOW = datetime(2026, 3, 2, 8, 0, 5, tzinfo=UTC)

_PEOPLE = """
with t as (insert into tenants (tenant_id, timezone) select 'tn_' || n, (array['Europe/Berlin', 'America/New_York',
           'Asia/Tokyo', 'Australia/Sydney', 'UTC'])[n % 5 + 1] from generate_series(1, $1::int) n returning tenant_id),
i as (insert into identities (tenant_id, id, channel, account, user_key, admitted)
      select tenant_id, 'i', 'none', 'a', tenant_id, 'open' from t returning tenant_id)
insert into conversations (tenant_id, id, identity_id, channel, account, peer, last_inbound_at)
select tenant_id, 'c_' || tenant_id, 'i', 'none', 'a', tenant_id, now() from i
"""
_TASKS = """
insert into tasks (tenant_id, id, number, title, kind, trigger, action, anchor, due_at, next_at, created_at)
select 'tn_' || (n % $1::int + 1), 'task_' || n, n, 'Task ' || n, 'schedule',
       jsonb_build_object('cron', (array['0 8 * * *', '30 7 * * 1-5', '*/15 * * * *', '0 9 1 * *'])[n % 4 + 1]),
       '{"instruction": "Summarise my unread mail"}', $3::timestamptz, $3 + interval '1 day' + n * interval '1 second',
       $3 + interval '1 day' + n * interval '1 second', $3
from generate_series($2::int, $4::int) n
"""
_MAKE_DUE = """
update tasks set due_at = $1::timestamptz - interval '5 seconds', next_at = $1
where id = any (select 'task_' || (1 + floor(random() * $2))::int from generate_series(1, $3::int))
"""
_FLOOR = """
with due as (select ctid from tasks where state = 'ACTIVE' and next_at <= $1 order by next_at limit 1000
             for update skip locked)
update tasks t set next_at = $1 + interval '1 day' from due where t.ctid = due.ctid
"""


def main() -> None:
    """Measure each size and print a line."""
    parser = argparse.ArgumentParser(prog="python -m workbench.benchmarks.triggers")
    parser.add_argument("--tasks", type=int, action="append", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for tasks in options.tasks or [100_000, 1_000_000]:
        asyncio.run(_measure(tasks, options.rounds))


async def _measure(tasks: int, rounds: int) -> None:
    async with private_postgres() as postgres:
        await migrate(postgres.url)
        eye = await asyncpg.connect(postgres.url, command_timeout=1200)
        database = Database(postgres.url, patience=60)
        try:
            await fill(eye, tasks)
            floors = [await floor(eye, tasks) for _ in range(rounds)]
            before = psutil.Process().memory_info().rss
            server = psutil.Process(psutil.Process(await eye.fetchval("select pg_backend_pid()")).ppid())
            whole = [await one_round(eye, database, tasks, server) for _ in range(rounds)]
            grown = psutil.Process().memory_info().rss - before
            nothing = [await empty(database) for _ in range(50)]
        finally:
            await eye.close()
            await database.close()
    rates = [due / seconds for seconds, due, _, _ in whole]
    ours, theirs = ([one[which] / one[1] * 1e6 for one in whole] for which in (2, 3))
    sys.stdout.write(
        f"{tasks:>9} tasks: {statistics.median(rates):,.0f} due claimed and rescheduled a second"
        f" (worst {min(rates):,.0f}; our CPU {statistics.median(ours):.0f} us,"
        f" Postgres' {statistics.median(theirs):.0f} us;"
        f" floor {statistics.median(floors):,.0f} a second; load {os.getloadavg()[0]:.1f});"
        f" nothing due {statistics.median(nothing) * 1000:.2f} ms; memory {grown / 2**20:+.1f} MB,"
        f" at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB\n"
    )
    sys.stdout.flush()


async def fill(eye: "asyncpg.Connection[asyncpg.Record]", tasks: int) -> None:
    """Create the people and their tasks."""
    await eye.execute(_PEOPLE, PEOPLE)
    for first in range(1, tasks + 1, 100_000):
        await eye.execute(_TASKS, PEOPLE, first, NOW, min(first + 99_999, tasks))
    await eye.execute("analyze")


async def _make_due(eye: "asyncpg.Connection[asyncpg.Record]", tasks: int) -> None:
    await eye.execute("update tasks set next_at = $1::timestamptz + interval '1 day' where next_at <= $1", NOW)
    await eye.execute(_MAKE_DUE, NOW, tasks, DUE)


async def floor(eye: "asyncpg.Connection[asyncpg.Record]", tasks: int) -> float:
    """Return a second's tasks that are only claimed and moved on."""
    await _make_due(eye, tasks)
    await eye.execute("vacuum analyze tasks")
    began, moved = time.perf_counter(), 0
    while count := int((await eye.execute(_FLOOR, NOW)).rpartition(" ")[2]):
        moved += count
    return moved / (time.perf_counter() - began)


async def one_round(
    eye: "asyncpg.Connection[asyncpg.Record]", database: Database, tasks: int, postgres: psutil.Process
) -> tuple[float, int, float, float]:
    """Return seconds, how many were due, and seconds of CPU, our own and that of Postgres."""
    await _make_due(eye, tasks)
    # An occurrence is unique: the runs of the previous round would be in the way.
    await eye.execute("delete from task_runs")
    await eye.execute("delete from lanes")
    await eye.execute("vacuum analyze task_runs, lanes, turns, tasks")
    began, cpu, theirs, due, busy = time.perf_counter(), time.process_time(), cpu_of(postgres), 0, True
    while busy:
        batches = await asyncio.gather(*(fire_due(database, make_id, NOW) for _ in range(BATCHES_AT_ONCE)))
        due += sum(fired.due for fired in batches)
        busy = any(fired.due for fired in batches)
        assert all(len(fired.lanes) == fired.due for fired in batches)  # noqa: S101 - a measurement of something else
    spent = time.perf_counter() - began
    return spent, due, time.process_time() - cpu, cpu_of(postgres) - theirs


async def empty(database: Database) -> float:
    """Return the seconds of a look when nothing is due."""
    began = time.perf_counter()
    await fire_due(database, make_id, NOW - timedelta(days=9))
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
