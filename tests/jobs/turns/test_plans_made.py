"""How many plans Postgres makes for the first messages of a worker: planning costs more than most statements do."""

from pathlib import Path

import asyncpg
import pytest

from onevalet.migrating import migrate
from tests.jobs.turns.test_turn_cost import Metered, open_metered
from tests.services import private_postgres

FIRST, FIRST_PLANS = 5, 600
"""The messages in which each statement is planned, once for each connection."""
MORE, PLANS = 7, 1
"""The messages after them, and the plans that each may still make."""
_COUNTING = {
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.track": "all",
    "pg_stat_statements.track_planning": "on",
    "pg_stat_statements.max": "20000",
}
_MADE = "select coalesce(sum(plans), 0)::int from pg_stat_statements where query not like '%pg_stat_statements%'"


@pytest.mark.slow
@pytest.mark.xdist_group("model")
async def test_a_worker_makes_few_plans_once_each_statement_is_planned(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with private_postgres(None, fsync="off", autovacuum="off", **_COUNTING) as postgres:
        await migrate(postgres.url)
        admin = await asyncpg.connect(postgres.url)
        await admin.execute("create extension pg_stat_statements")
        async with open_metered(postgres.url, redis_url, tmp_path, monkeypatch) as running:
            assert await made_by(running, admin, FIRST) <= FIRST_PLANS
            assert await made_by(running, admin, MORE) <= MORE * PLANS
        await admin.close()


async def made_by(running: Metered, admin: "asyncpg.Connection[asyncpg.Record]", messages: int) -> int:
    """Return how many plans so many messages make, within functions too."""
    await admin.execute("select pg_stat_statements_reset()")
    for _ in range(messages):
        await running.answer("hello")
    made = int(await admin.fetchval(_MADE))
    print(f"{messages} messages: {made} plans")  # noqa: T201
    return made
