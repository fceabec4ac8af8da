"""Two thousand connections through PgBouncer in transaction mode, each under row-level security.

    nice -n 5 uv run -m benchmarks.scale.connections [--clients 2000] [--seconds 20] [--write]

A Postgres of its own with its usual 100 connections, Debian's PgBouncer before it, and a login whose role is set by
`alter role`, because PgBouncer takes none from a client. Every client stays connected and reads its person's messages
again and again, in a transaction as ours are. What they see, and what a call costs, is compared with twenty connections
to Postgres itself.
"""

import argparse
import asyncio
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import psutil

from benchmarks.scale import report
from benchmarks.scale.cost import tree
from benchmarks.scale.people import EXCHANGES, fill
from core.db.connector import connect
from core.db.migrate import migrate
from core.db.serving import ROLE
from core.errors import ConfigError
from onevalet.dev.embedded.child_process import unprivileged_user
from onevalet.dev.embedded.port import free_port
from onevalet.dev.embedded.postgres import Postgres
from tests.services import private_postgres

PEOPLE, POOL, DIRECT = 1000, 20, 20
LOGIN = "onevalet_pooled"
_INI = """
[databases]
onevalet = host=127.0.0.1 port={postgres}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {users}
pool_mode = transaction
default_pool_size = {pool}
max_client_conn = {clients}
"""

type Connection = asyncpg.Connection[asyncpg.Record]


@dataclass(frozen=True, slots=True)
class Told:
    """What one way came to. `strange`: reads that saw other rows than the person's own, or any outside a tenant."""

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
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.connections")
    parser.add_argument("--clients", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    if shutil.which("pgbouncer") is None:
        sys.exit("PgBouncer is missing: apt-get install pgbouncer.")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    results: report.Results = {"connections": asyncio.run(_measure(chosen.clients, chosen.seconds)) | report.stamp()}
    sys.stdout.write("\n".join(report.connections(results)) + "\n")
    if chosen.write:
        report.write(results)


async def _measure(clients: int, seconds: float) -> report.Results:
    async with private_postgres() as server:
        await migrate(server.url)
        await fill(server.url, PEOPLE, (), "+15550009999")
        admin = await connect(server.url)
        try:
            await admin.execute(
                f"create role {LOGIN} login noinherit password '{LOGIN}'; grant {ROLE} to {LOGIN};"
                f" alter role {LOGIN} set role = '{ROLE}'"
            )
            direct = urlsplit(server.url)
            netloc = f"{LOGIN}:{LOGIN}@{direct.hostname}"
            url = direct._replace(netloc=f"{netloc}:{direct.port}").geturl()
            told = {"direct": asdict(await _load(admin, server, url, DIRECT, seconds))}
            async with _pooler(direct.port or 0, clients) as (port, pooler):
                url = direct._replace(netloc=f"{netloc}:{port}").geturl()
                told["pooled"] = asdict(await _load(admin, server, url, clients, seconds, pooler))
            return dict(told)
        finally:
            await admin.close()


async def _load(
    admin: Connection, server: Postgres, url: str, clients: int, seconds: float, pooler: psutil.Process | None = None
) -> Told:
    """Read with so many clients for a time, each as often as all together allow."""
    opened: list[Connection] = []
    try:
        # What is prepared on one server connection is not there on the next.
        opened += [await connect(url, timeout=60, statement_cache_size=0) for _ in range(clients)]
        assert server.pid is not None  # noqa: S101 - a measurement
        processes = [psutil.Process(server.pid), *([pooler] if pooler else [])]
        before, began = [tree(process) for process in processes], time.monotonic()
        watching = asyncio.create_task(_most_servers(admin, began + seconds))
        reads = await asyncio.gather(*(_read(connection, began + seconds) for connection in opened))
        ended = time.monotonic()
        spent = [tree(process) - used for process, used in zip(processes, before, strict=True)]
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
    """Read a person's messages in a transaction, and any outside of one, until it is time."""
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


@asynccontextmanager
async def _pooler(postgres: int, clients: int) -> AsyncIterator[tuple[int, psutil.Process]]:
    """Run PgBouncer for the block; yield its port and its process."""
    user, port = unprivileged_user(), free_port()
    with tempfile.TemporaryDirectory(prefix="onevalet-test-pooler-") as made:
        folder = Path(made)
        users, ini, log = folder / "users.txt", folder / "pgbouncer.ini", folder / "log"
        users.write_text(f'"{LOGIN}" "{LOGIN}"\n')
        ini.write_text(_INI.format(postgres=postgres, port=port, users=users, pool=POOL, clients=clients + 10))
        for path in (folder, users, ini):
            if user:
                os.chown(path, user.uid, user.gid)
        with log.open("wb") as out:
            process = subprocess.Popen(  # noqa: ASYNC220, S603 - once, and our own program
                ["pgbouncer", str(ini)],  # noqa: S607
                stdout=out,
                stderr=out,
                user=user.uid if user else None,
                group=user.gid if user else None,
                extra_groups=[] if user else None,
            )
        try:
            await _until_listening(port, process, log)
            yield port, psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(20)


async def _until_listening(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    while process.poll() is None:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return
    raise ConfigError(f"PgBouncer did not start: {log.read_text()[-1000:]}")  # noqa: ASYNC240 - once


if __name__ == "__main__":
    main()
