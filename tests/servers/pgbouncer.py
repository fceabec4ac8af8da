"""Debian's PgBouncer in transaction mode, before a Postgres of the tests."""

import asyncio
import os
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import asyncpg
import pytest

SERVER_CONNECTIONS = 4
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"


def program() -> str:
    """Return PgBouncer's path; skip the test, outside CI, where there is none."""
    found = shutil.which("pgbouncer", path=_PATH)
    if found is None:
        reason = "PgBouncer is not installed: apt-get install pgbouncer"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@asynccontextmanager
async def pooled(database_url: str, *settings: str) -> AsyncIterator[str]:
    """Yield the URL by which PgBouncer leads to a database, over at most `SERVER_CONNECTIONS` of its connections."""
    parts, path, port = urlsplit(database_url), program(), _free_port()
    with tempfile.TemporaryDirectory(prefix="onevalet-pgbouncer-") as name:
        folder = Path(name)
        _write_config(folder, parts, port, settings)
        as_nobody = ["--user", "nobody"] if os.geteuid() == 0 else []
        process = await asyncio.create_subprocess_exec(path, "--quiet", *as_nobody, str(folder / "pgbouncer.ini"))
        try:
            url = parts._replace(netloc=f"{parts.username}:{parts.password}@127.0.0.1:{port}").geturl()
            await _until_answering(url, process)
            yield url
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def _write_config(folder: Path, parts: SplitResult, port: int, settings: tuple[str, ...]) -> None:
    folder.chmod(0o755)  # PgBouncer gives root's rights up, and must read these
    (folder / "users.txt").write_text(f'"{parts.username}" "{parts.password}"\n')
    lines = [
        "[databases]",
        f"* = host={parts.hostname} port={parts.port}",
        "[pgbouncer]",
        "listen_addr = 127.0.0.1",
        f"listen_port = {port}",
        "unix_socket_dir =",
        "auth_type = plain",
        f"auth_file = {folder / 'users.txt'}",
        "pool_mode = transaction",
        f"default_pool_size = {SERVER_CONNECTIONS}",
        "max_client_conn = 5000",
        *settings,
    ]
    (folder / "pgbouncer.ini").write_text("\n".join(lines) + "\n")


async def _until_answering(url: str, process: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(60):
        while True:
            assert process.returncode is None, "PgBouncer ended: its log is on standard error"
            try:
                connection = await asyncpg.connect(url, statement_cache_size=0)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                await connection.close()
                return


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
