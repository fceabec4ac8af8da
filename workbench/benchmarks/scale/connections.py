"""Two thousand connections through PgBouncer in transaction mode, each under row-level security.

    nice -n 5 uv run -m workbench.benchmarks.scale.connections [--clients 2000] [--seconds 20] [--write]

A Postgres of its own with its usual 100 connections, Debian's PgBouncer before it, each on a host of its own as in
`workbench.benchmarks.scale`, and a login whose role is set by `alter role`, because PgBouncer accepts no role from a
client. Every client stays connected and reads its person's messages again and again, in a transaction like ours. Their
rows, and the cost of a call, are compared with twenty connections to Postgres itself.
"""

import argparse
import asyncio
import random
import resource
import shutil
import statistics
import sys
import time
from dataclasses import asdict, dataclass

import asyncpg
import psutil

from core.db.connector import connect
from onevalet.migrating import migrate
from onevalet.servers.postgres import Postgres
from tests.servers.pgbouncer import running_pooler
from tests.services import private_postgres
from workbench.benchmarks.cpu import cpu_of
from workbench.benchmarks.scale import report
from workbench.benchmarks.scale.installation import SERVERS, Network, network
from workbench.benchmarks.scale.login import LOGIN, make_login
from workbench.benchmarks.scale.people import EXCHANGES, fill

PEOPLE, DIRECT = 1000, 20
type Connection = asyncpg.Connection[asyncpg.Record]


@dataclass(frozen=True, slots=True)
class Told:
    """The results of a way. `strange`: reads that saw rows of other people, or any rows outside a tenant."""

    clients: int
    calls: int
    rate: float
    p50: float
    p99: float
    strange: int
    servers: int
    """Connections that Postgres had for them at most."""
    postgres: float
    pooler: float
    """Milliseconds of CPU a call."""


def main() -> None:
    """Measure both ways and print them."""
    parser = argparse.ArgumentParser(prog="python -m workbench.benchmarks.scale.connections")
    parser.add_argument("--clients", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    if shutil.which("pgbouncer") is None:
        sys.exit("PgBouncer is missing: apt-get install pgbouncer.")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with network() as where:
        told = asyncio.run(_measure(where, chosen.clients, chosen.seconds))
    results: report.Results = {"connections": told | report.stamp()}
    sys.stdout.write("\n".join(report.connections(results)) + "\n")
    if chosen.write:
        report.write(results)


async def _measure(where: Network | None, clients: int, seconds: float) -> report.Results:
    async with private_postgres(where.postgres if where else None) as server:
        await migrate(server.url)
        await fill(server.url, PEOPLE, (), "+15550009999")
        url = await make_login(server.url)
        admin = await connect(server.url)
        try:
            told = {"direct": asdict(await _load(admin, server, url, DIRECT, seconds))}
            host = where.pooler if where else None
            async with running_pooler(url, host=host, servers=SERVERS) as pooler:
                process = psutil.Process(pooler.pid)
                told["pooled"] = asdict(await _load(admin, server, pooler.url, clients, seconds, process))
            return dict(told)
        finally:
            await admin.close()


async def _load(
    admin: Connection, server: Postgres, url: str, clients: int, seconds: float, pooler: psutil.Process | None = None
) -> Told:
    """Read with a number of clients for a time, each as often as all together allow."""
    opened: list[Connection] = []
    try:
        # A statement prepared on a server connection is missing on the next.
        opened += [await connect(url, timeout=60, statement_cache_size=0) for _ in range(clients)]
        assert server.pid is not None  # noqa: S101 - a measurement
        processes = [psutil.Process(server.pid), *([pooler] if pooler else [])]
        before, began = [cpu_of(process) for process in processes], time.monotonic()
        watching = asyncio.create_task(_most_servers(admin, began + seconds))
        reads = await asyncio.gather(*(_read(connection, began + seconds) for connection in opened))
        ended = time.monotonic()
        spent = [cpu_of(process) - used for process, used in zip(processes, before, strict=True)]
        took = sorted(milliseconds for client, _ in reads for milliseconds in client)
        return Told(
            clients=clients,
            calls=len(took),
            rate=len(took) / (ended - began),
            p50=statistics.median(took),
            p99=took[int(0.99 * len(took))],
            strange=sum(strange for _, strange in reads),
            servers=await watching,
            postgres=spent[0] * 1000 / len(took),
            pooler=spent[1] * 1000 / len(took) if pooler else 0.0,
        )
    finally:
        for connection in opened:
            connection.terminate()


async def _read(connection: Connection, until: float) -> tuple[list[float], int]:
    """Read a person's messages in a transaction, and any outside it, until it is time."""
    took, strange = [], 0
    while time.monotonic() < until:
        tenant = f"tn_{random.randint(1, PEOPLE):07d}"
        began = time.monotonic()
        await connection.execute(f"begin; select set_config('onevalet.tenant', '{tenant}', true)")
        seen = await connection.fetch("select tenant_id from inbound")
        await connection.execute("commit")
        took.append((time.monotonic() - began) * 1000)
        strange += [row["tenant_id"] for row in seen] != [tenant] * EXCHANGES
        if len(took) % 10 == 1:
            strange += await connection.fetchval("select count(*) from inbound") != 0
    return took, strange


async def _most_servers(admin: Connection, until: float) -> int:
    most = 0
    while time.monotonic() < until:
        most = max(most, await admin.fetchval("select count(*) from pg_stat_activity where usename = $1", LOGIN))
        await asyncio.sleep(0.5)
    return most


if __name__ == "__main__":
    main()
