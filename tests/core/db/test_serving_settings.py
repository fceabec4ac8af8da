"""A statement of a serving connection runs in its own process, by a plan that is made once."""

import pytest

from core.db.database import Database
from tests.core.harness import Store


@pytest.mark.parametrize(
    ("setting", "value"),
    [("plan_cache_mode", "force_generic_plan"), ("max_parallel_workers_per_gather", "0"), ("jit", "off")],
)
async def test_a_server_that_would_do_more_for_large_reads_does_not_for_ours(
    store: Store, setting: str, value: str
) -> None:
    name = await store.one("select current_database()")
    await store.admin.execute(f'alter database "{name}" set max_parallel_workers_per_gather = 2')
    await store.admin.execute(f'alter database "{name}" set jit = on')
    database = Database(store.url, size=1)
    try:
        shown = await database.one("select current_setting($1) as value", setting)
    finally:
        await database.close()
    assert shown["value"] == value
