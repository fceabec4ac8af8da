"""The servers of a test run, as the fixtures hand them out."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
from redis.asyncio import Redis

from core.clock import Clock, set_clock
from tests import services as servers

ROUNDING = timedelta(milliseconds=1)
"""That of the seconds in the clock's file."""


async def test_each_test_gets_a_database_of_its_own(database_url: str, services: servers.RunServices) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute("CREATE TABLE only_here (id int)")
    await connection.close()

    async with servers.fresh_database(services, "another") as url:
        connection = await asyncpg.connect(url)
        assert await connection.fetchval("SELECT to_regclass('only_here')") is None
        assert await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") > 0
        await connection.close()


async def test_the_redis_database_is_emptied_for_each_test(redis_url: str) -> None:
    async with Redis.from_url(redis_url) as client:
        assert await client.dbsize() == 0
        await client.set("left", "behind")

    await servers.flush(redis_url)

    async with Redis.from_url(redis_url) as client:
        assert await client.dbsize() == 0


def test_the_clock_tells_the_time_until_it_is_moved(clock_path: Path) -> None:
    clock = Clock(clock_path)
    before, told, after = datetime.now(UTC), clock.now(), datetime.now(UTC)
    assert before - ROUNDING <= told <= after + ROUNDING

    set_clock(clock_path, offset=3600)

    assert clock.now() - before >= timedelta(hours=1) - ROUNDING
