"""A statement of a serving connection runs in its own process, by a plan that is made once."""

import pytest

from core.db.database import Database

_SET = "select setting, source from pg_settings where name = $1"


@pytest.mark.parametrize(
    ("setting", "value"),
    [("plan_cache_mode", "force_generic_plan"), ("max_parallel_workers_per_gather", "0"), ("jit", "off")],
)
async def test_a_serving_connection_says_itself_how_its_statements_are_planned(
    database_url: str, setting: str, value: str
) -> None:
    database = Database(database_url, size=1)
    try:
        assert dict(await database.one(_SET, setting)) == {"setting": value, "source": "client"}
    finally:
        await database.close()
