"""Firing by sets: what is decided once for many is what each alone would get, and no table is read through."""

from datetime import timedelta

import pytest

from abilities.tasks.runs.firing import _Decision, _end, fire_due
from core.db.database import Database
from core.ids import make_id
from tests.abilities.tasks.harness import NOW
from tests.core.harness import Store
from tests.postgres_meter import metered

pytestmark = pytest.mark.slow

PEOPLE, TASKS, DUE = 40, 20_000, 200

_FILL = """
with t as (insert into tenants (tenant_id, timezone)
           select 'tn_' || n, (array['Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'UTC'])[n % 4 + 1]
           from generate_series(1, $1::int) n returning tenant_id)
insert into tasks (tenant_id, id, number, title, kind, trigger, action, anchor, due_at, next_at, created_at)
select 'tn_' || n % $1::int + 1, 'task_' || n, n, 'T', 'schedule', (array[
           '{"cron": "0 8 * * *"}', '{"cron": "30 2 * * *", "count": 3}', '{"cron": "*/15 * * * *"}',
           '{"interval_minutes": 7}', '{"cron": "0 9 1 * *", "jitter_seconds": 600}', '{"cron": "0 * * * *",
           "missed": "skip"}', '{"cron": "0 9 * * 1-5", "missed": "all"}'])[n % 7 + 1]::jsonb,
       '{"instruction": "x"}', $4::timestamptz - make_interval(mins => n % 11), m.at, m.at, $4
from generate_series(1, $2::int) n cross join lateral (select $4::timestamptz + case when n <= $3::int
    then -make_interval(hours => n % 5, secs => 1) else interval '1 day' + n * interval '1 second' end as at) m
"""


_FIRE = "select * from fire_tasks($1::fired_task[], $2::fired_run[])"


@pytest.fixture
async def filled(store: Store) -> Store:
    """Return a store with many tasks, of which some are due."""
    await store.admin.execute("alter table tasks disable trigger tasks_hold")
    await store.admin.execute(_FILL, PEOPLE, TASKS, DUE, NOW)
    await store.admin.execute("analyze")
    return store


@pytest.mark.parametrize("hours", [0, 12, 24 * 6, 24 * 27])  # the last two past clock changes: New York's, Berlin's
async def test_promise_13_many_at_once_get_what_each_alone_would_get(filled: Store, hours: int) -> None:
    now, known = NOW + timedelta(hours=hours), dict[tuple[object, ...], _Decision]()
    rows = await filled.admin.fetch("select * from take_due_tasks($1, 1000)", now)
    assert len(rows) >= DUE
    for row in rows:
        together, alone = (_end(row, now, lambda kind: kind, cache) for cache in (known, {}))
        assert together == alone
    assert len(known) < len(rows), "some were decided with others"


async def test_claiming_and_firing_do_not_read_all_tasks(filled: Store) -> None:
    plans: list[str] = []
    await filled.admin.fetch(_FIRE, [], [])  # asks about the types
    filled.admin.add_log_listener(lambda _, message: plans.append(str(message)))
    await filled.admin.execute(
        "load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;"
        " set client_min_messages = log"
    )
    now = NOW - timedelta(hours=1)
    claimed = await filled.admin.fetch("select * from take_due_tasks($1, 100)", now)
    assert claimed
    tasks = [(row["tenant_id"], row["task_id"], now, now + timedelta(days=1), "UTC", 1) for row in claimed]
    runs = [
        (row["tenant_id"], row["task_id"], make_id("run"), make_id("turn"), "o", now, "QUEUED", "", "{}")
        for row in claimed
    ]
    fired = await filled.admin.fetch(_FIRE, tasks, runs)
    assert len(fired) == len(claimed)
    told = "\n".join(line for plan in plans for line in plan.splitlines() if len(line) < 200)
    assert "tasks_due" in told, told
    assert "tasks_pkey" in told, told
    assert "Seq Scan on tasks" not in told, told


async def test_nothing_due_is_three_round_trips(filled: Store, database_url: str) -> None:
    async with metered(database_url) as meter:
        database = Database(meter.url)
        await fire_due(database, make_id, NOW - timedelta(days=9))
        meter.clear()
        assert (await fire_due(database, make_id, NOW - timedelta(days=9))).due == 0
        assert len(meter.statements) == 3, meter.statements
        await database.close()
