"""`python -m workbench.benchmarks.pooled_connections`: many connections through PgBouncer, on few of the server's.

Each client works in its tenant and outside it, again and again, all at once. Prints calls a second, the wait for a
call, and the server's connections and memory.
"""

import argparse
import asyncio
import statistics
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from core.db.database import Database
from core.db.serving import ROLE
from onevalet.migrating import migrate
from tests.servers.pgbouncer import pooled
from tests.services import private_postgres

OF_ONE = 20
"""Connections of a pool, as of a worker."""
ROUNDS = 10
_BACKENDS = "select pid from pg_stat_activity where usename = 'serving'"


def main() -> None:
    """Measure, and print a line for each number of clients."""
    parser = argparse.ArgumentParser(prog="python -m workbench.benchmarks.pooled_connections")
    parser.add_argument("--clients", type=int, nargs="+", default=[20, 200, 2000])
    parser.add_argument("--servers", type=int, default=20, help="server connections of PgBouncer")
    options = parser.parse_args()
    asyncio.run(_measure(options.clients, options.servers))


async def _measure(numbers: list[int], servers: int) -> None:
    async with private_postgres() as server:
        await migrate(server.url)
        admin = await asyncpg.connect(server.url)
        await admin.execute(f"create role serving login noinherit password 'serves4test'; grant {ROLE} to serving")
        await admin.execute(f"alter role serving set role = '{ROLE}'")
        address = urlsplit(server.url).netloc.rpartition("@")[2]
        login = urlsplit(server.url)._replace(netloc=f"serving:serves4test@{address}").geturl()
        async with pooled(login, f"default_pool_size = {servers}") as url:
            for clients in numbers:
                sys.stdout.write(await _line(url, clients, admin) + "\n")
        await admin.close()


async def _line(url: str, clients: int, admin: "asyncpg.Connection[asyncpg.Record]") -> str:
    async with AsyncExitStack() as stack:
        pools = [Database(url, size=OF_ONE, patience=120) for _ in range(max(1, clients // OF_ONE))]
        for pool in pools:
            stack.push_async_callback(pool.close)
        await asyncio.gather(*(_work(pools[n % len(pools)], n, 1) for n in range(clients)))
        began = time.monotonic()
        waits = await asyncio.gather(*(_work(pools[n % len(pools)], n, ROUNDS) for n in range(clients)))
        seconds = time.monotonic() - began
        pids = [row["pid"] for row in await admin.fetch(_BACKENDS)]
    times = sorted(wait for each in waits for wait in each)
    memory = sum(_private_kb(pid) for pid in pids) / 1024
    median = statistics.median(times) * 1000
    return (
        f"{clients} clients: {2 * len(times) / seconds:.0f} transactions/s, p50 {median:.0f} ms,"
        f" p99 {times[int(len(times) * 0.99)] * 1000:.0f} ms; {len(pids)} server connections, {memory:.0f} MB"
    )


async def _work(database: Database, number: int, rounds: int) -> list[float]:
    """Do two transactions a round; return the time of each round."""
    times = []
    for _ in range(rounds):
        began = time.monotonic()
        await database.tenant_rows(f"tn_{number}", "select count(*) from tenants where tenant_id = $1")
        await database.rows("select count(*) from tenants")
        times.append(time.monotonic() - began)
    return times


def _private_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean:", "Private_Dirty:")))


if __name__ == "__main__":
    main()
