"""The servers' life is bound to the process that started them."""

import subprocess
from pathlib import Path

import asyncpg
import psutil
import pytest
from redis.asyncio import Redis

from onevalet.servers.home import find_running
from tests.onevalet.servers.conftest import StartHolder
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow


def _children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    children: list[psutil.Process] = psutil.Process(process.pid).children(recursive=True)
    names = {child.name() for child in children}
    assert {"postgres", "valkey-server"} <= names, names
    return children


def test_the_servers_end_when_their_parent_is_killed(start_holder: StartHolder) -> None:
    holder = start_holder()
    servers = _children(holder)

    holder.kill()

    _, alive = psutil.wait_procs(servers, timeout=PATIENCE)
    assert alive == []


def test_the_servers_end_when_their_parent_is_asked_to(start_holder: StartHolder) -> None:
    holder = start_holder()
    servers = _children(holder)

    holder.terminate()

    _, alive = psutil.wait_procs(servers, timeout=PATIENCE)
    assert alive == []


async def test_data_survives_a_killed_parent_and_the_next_start_waits(home: Path, start_holder: StartHolder) -> None:
    holder = start_holder()
    first = find_running(home)
    assert first is not None
    connection = await asyncpg.connect(first.database_url)
    await connection.execute("CREATE TABLE kept (word text); INSERT INTO kept VALUES ('row')")
    async with Redis.from_url(first.redis_url) as client:
        await client.set("kept", "key")

    holder.kill()  # with the connection open, so that the server has something to end
    start_holder()

    await connection.close(timeout=PATIENCE)
    second = find_running(home)
    assert second is not None
    connection = await asyncpg.connect(second.database_url)
    assert await connection.fetchval("SELECT word FROM kept") == "row"
    await connection.close()
    async with Redis.from_url(second.redis_url) as client:
        assert await client.get("kept") == b"key"
