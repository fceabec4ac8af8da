"""Claims take as many rows as they were asked for, whatever plan Postgres makes."""

import asyncpg
import pytest

from tests.core.harness import Store

# Leaves the planner nested loops only. A table that was analyzed with one row in it is their outer side, and the inner
# one runs once per outer row.
_NESTED = "".join(
    f"set enable_{name} = off;" for name in ("hashjoin", "mergejoin", "material", "memoize", "indexscan", "bitmapscan")
)
_SEVERAL = "from generate_series($1::int, $2::int) n"
_ROWS = {
    "redraws": f"insert into redraws (tenant_id, outbound_id, outcome, outcome_at)"
    f" select 'ann', 'o' || n, 'expired', now() {_SEVERAL}",
    "memory_jobs": f"insert into memory_jobs (tenant_id, id) select 'ann', 'j' || n {_SEVERAL}",
    "run_notices": f"insert into run_notices (tenant_id, run_id, key, text) select 'ann', 'r', 'k' || n, '' {_SEVERAL}",
    "events": "insert into events (tenant_id, source, id, type, data, occurred_at, received_at)"
    f" select 'ann', 's', 'e' || n, 't', '{{}}', now(), now() - interval '9 days' {_SEVERAL}",
}
_CLAIMS = [
    ("redraws", "select count(*) from claim_redraw('20 seconds')"),
    ("memory_jobs", "select count(*) from claim_memory_job(null, 'w1', '20 seconds')"),
    ("run_notices", "select count(*) from claim_notices(1, '20 seconds')"),
    ("events", "select pruned from prune_events(now(), 1)"),
]


async def prepare(admin: "asyncpg.Connection[asyncpg.Record]", table: str) -> None:
    await admin.execute("set session_replication_role = replica")  # rows without those that they belong to
    await admin.execute("insert into tenants (tenant_id) values ('ann')")
    for numbers in ((1, 1), (2, 4)):
        await admin.execute(
            "insert into outbound (tenant_id, id, conversation_id, seq, kind, text, state)"
            f" select 'ann', 'o' || n, 'c', n, 'card', '', 'sent' {_SEVERAL}",
            *numbers,
        )
        await admin.execute(_ROWS[table], *numbers)
        if numbers == (1, 1):
            await admin.execute(f"analyze {table}")
    await admin.execute("set session_replication_role = origin")


@pytest.mark.parametrize(("table", "claim"), _CLAIMS, ids=[table for table, _ in _CLAIMS])
async def test_a_claim_of_one_takes_one_row_under_any_plan(store: Store, table: str, claim: str) -> None:
    await prepare(store.admin, table)
    await store.admin.execute(_NESTED)
    assert await store.one(claim) == 1
