"""Hosts made of network namespaces: what runs on them is reached at their addresses, and has limited CPU on request."""

import os
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import psutil
import pytest
from redis.asyncio import Redis

from tests.cpu_limits import limited
from tests.eventually import eventually
from tests.namespaces import hosts
from tests.patience import PATIENCE
from tests.ports import free_port
from tests.servers.pgbouncer import running_pooler
from tests.services import private_postgres, private_valkey

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes network namespaces"),
]


async def test_servers_are_reached_at_the_addresses_of_their_hosts() -> None:
    with hosts(3) as (first, second, third):
        async with private_postgres(first) as postgres, private_valkey(second) as valkey:
            async with running_pooler(postgres.url, host=third) as pooler:
                assert urlsplit(pooler.url).hostname == third.address
                connection = await asyncpg.connect(pooler.url, statement_cache_size=0)
                assert await connection.fetchval("select host(inet_server_addr())") == first.address
                assert await connection.fetchval("select host(inet_client_addr())") == third.address
                await connection.close()
            async with Redis.from_url(valkey.url) as client:
                assert await client.ping()
        assert not any(host.processes() for host in (first, second, third))


def test_a_socket_of_ours_listens_on_a_hosts_own_loopback() -> None:
    with hosts(2) as (first, second), first.listen(free_port()) as one, socket.socket() as here:
        with second.listen(one.getsockname()[1]) as other:
            assert one.getsockname() == other.getsockname()
        here.bind(one.getsockname())  # this process is back on its own


async def test_a_limited_host_uses_less_cpu_than_one_that_is_not(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "while True: pass"]
    with hosts(2) as (first, second):
        started = [host.start(command, tmp_path / "log", None) for host in (first, second)]
        busy = [psutil.Process(process.pid) for process in started]
        with limited([(first, 0.02)]):
            before = [process.cpu_times().user for process in busy]

            def spent() -> list[float]:
                return [process.cpu_times().user - then for process, then in zip(busy, before, strict=True)]

            await eventually(lambda: spent()[1] > 1.0, "a second of CPU of the one that is not limited")
            used = spent()
    for process in started:
        process.wait(PATIENCE)
    assert used[0] * 2 < used[1], used
