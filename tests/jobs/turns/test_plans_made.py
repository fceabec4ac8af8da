"""How many plans Postgres makes for the first messages of a worker: planning costs more than most statements do."""

from pathlib import Path

import asyncpg
import pytest

from onevalet.migrating import migrate
from tests.jobs.turns.test_turn_cost import Metered, open_metered
from tests.services import private_postgres

FIRST_PLANS = 900
"""The plans of all messages until then: each statement once for each connection that serves it."""
CALM, PLANS = 5, 1
"""How many messages in a row make no more than so many plans each, once every connection has planned."""
MOST = 40
"""Messages until then: which connection of a pool serves a statement is chance, and a new one plans anew."""
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
            made: list[int] = []
            while len(made) < MOST and not (len(made) > CALM and max(made[-CALM:]) <= PLANS):
                made.append(await made_by_one(running, admin))
            assert len(made) < MOST, f"plans of each message: {made}"
            assert sum(made) <= FIRST_PLANS, made
        await admin.close()


async def made_by_one(running: Metered, admin: "asyncpg.Connection[asyncpg.Record]") -> int:
    """Return how many plans one message makes, within functions too."""
    await admin.execute("select pg_stat_statements_reset()")
    await running.answer("hello")
    return int(await admin.fetchval(_MADE))
