"""The servers together, watched."""

from contextlib import suppress
from functools import partial
from pathlib import Path

import asyncpg
import psutil
import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from onevalet.servers.services import embedded_services
from tests.eventually import eventually
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow


async def test_a_dead_server_is_restarted_on_the_same_address_with_its_data(home: Path) -> None:
    before = set(psutil.Process().children())
    async with embedded_services(home, database=True, redis=True) as services:
        assert services.database_url
        assert services.redis_url
        connection = await asyncpg.connect(services.database_url)
        await connection.execute("CREATE TABLE kept (word text); INSERT INTO kept VALUES ('row')")
        await connection.close()
        async with Redis.from_url(services.redis_url) as client:
            await client.set("kept", "key")

        servers = set(psutil.Process().children()) - before
        assert {server.name() for server in servers} == {"postgres", "valkey-server"}
        for server in servers:
            server.kill()
        psutil.wait_procs(servers, timeout=PATIENCE)

        assert await eventually(partial(_row, services.database_url), "a row of Postgres") == "row"
        assert await eventually(partial(_key, services.redis_url), "a key of Valkey") == b"key"


@pytest.mark.parametrize(("database", "redis"), [(True, False), (False, True), (False, False)])
async def test_only_what_is_asked_for_is_started(home: Path, database: bool, redis: bool) -> None:
    async with embedded_services(home, database=database, redis=redis) as services:
        assert (services.database_url is not None) == database
        assert (services.redis_url is not None) == redis


async def _row(url: str) -> str | None:
    try:
        connection = await asyncpg.connect(url)
    except (OSError, asyncpg.PostgresError):
        return None
    word: str | None = await connection.fetchval("SELECT word FROM kept")
    await connection.close()
    return word


async def _key(url: str) -> object:
    async with Redis.from_url(url) as client:
        with suppress(OSError, RedisError):
            return await client.get("kept")
    return None
