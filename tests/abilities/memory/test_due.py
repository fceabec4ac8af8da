"""What memory has to do is due, as all work of a worker is."""

import pytest

from tests.core.harness import Store

_CLAIMS = (
    "update memory_jobs set lease_until = clock_timestamp() + interval '1 minute'",
    "update profile_jobs set lease_until = clock_timestamp() + interval '1 minute'",
)


@pytest.mark.parametrize(
    ("work", "statement"),
    [
        ("memory", "insert into memory_jobs (tenant_id, id) select tenant_id, 'm' from tenants"),
        (
            "talks",
            "insert into profile_jobs (tenant_id, turn_id, not_before) select tenant_id, 't', now() from tenants",
        ),
    ],
)
async def test_jobs_and_unread_talks_are_due_until_they_are_claimed(store: Store, work: str, statement: str) -> None:
    await store.say("hello")
    await store.admin.execute("delete from memory_jobs; delete from profile_jobs")
    assert await _waits(store, work) == []
    await store.admin.execute("set session_replication_role = replica")  # the row alone, without its turn
    await store.admin.execute(statement)
    [wait] = await _waits(store, work)
    assert wait <= 0
    for claim in _CLAIMS:
        await store.admin.execute(claim)
    [wait] = await _waits(store, work)
    assert 30 < wait <= 60


async def _waits(store: Store, work: str) -> list[float]:
    rows = await store.database.rows("select wait from what_is_due(now()) where work = $1", work)
    return [row["wait"] for row in rows]
