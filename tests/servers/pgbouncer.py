"""Debian's PgBouncer in transaction mode, before a Postgres of the tests."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import asyncpg

from tests.eventually import eventually
from tests.namespaces import Host
from tests.needs import need
from tests.ports import free_port

SERVER_CONNECTIONS = 4


@dataclass(frozen=True, slots=True)
class Pooler:
    """A PgBouncer at work: the URL by which it leads to the database, and its process."""

    url: str
    pid: int


@asynccontextmanager
async def pooled(database_url: str, *settings: str) -> AsyncIterator[str]:
    """Yield the URL by which PgBouncer leads to a database, over at most `SERVER_CONNECTIONS` of its connections."""
    async with running_pooler(database_url, *settings) as pooler:
        yield pooler.url


@asynccontextmanager
async def running_pooler(
    database_url: str, *settings: str, host: Host | None = None, servers: int = SERVER_CONNECTIONS
) -> AsyncIterator[Pooler]:
    """Run a PgBouncer for the block, on a host of its own where one is given."""
    parts, path, port = urlsplit(database_url), need("pgbouncer"), free_port()
    address = host.address if host else "127.0.0.1"
    with tempfile.TemporaryDirectory(prefix="onevalet-pgbouncer-") as name:
        folder = Path(name)
        _write_config(folder, parts, f"{address}:{port}", (f"default_pool_size = {servers}", *settings))
        as_nobody = ["--user", "nobody"] if os.geteuid() == 0 else []
        command = [path, "--quiet", *as_nobody, str(folder / "pgbouncer.ini")]
        process = await asyncio.create_subprocess_exec(*(host.command(command, None) if host else command))
        try:
            url = parts._replace(netloc=f"{parts.username}:{parts.password}@{address}:{port}").geturl()
            await _until_answering(url, process)
            yield Pooler(url, process.pid)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def _write_config(folder: Path, parts: SplitResult, listen: str, settings: tuple[str, ...]) -> None:
    folder.chmod(0o755)  # PgBouncer gives root's rights up, and must read these
    (folder / "users.txt").write_text(f'"{parts.username}" "{parts.password}"\n')
    lines = [
        "[databases]",
        f"* = host={parts.hostname} port={parts.port}",
        "[pgbouncer]",
        f"listen_addr = {listen.partition(':')[0]}",
        f"listen_port = {listen.partition(':')[2]}",
        "unix_socket_dir =",
        "auth_type = plain",
        f"auth_file = {folder / 'users.txt'}",
        "pool_mode = transaction",
        "max_client_conn = 5000",
        *settings,
    ]
    (folder / "pgbouncer.ini").write_text("\n".join(lines) + "\n")


async def _until_answering(url: str, process: asyncio.subprocess.Process) -> None:
    async def answers() -> bool:
        if process.returncode is not None:
            raise RuntimeError("PgBouncer ended: its log is on standard error")
        try:
            connection = await asyncpg.connect(url, statement_cache_size=0)
        except OSError:
            return False
        await connection.close()
        return True

    await eventually(answers)
