"""Debian's PostgreSQL with PL/Proxy, as the router before partitions."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg

from core.errors import ConfigError
from onevalet.servers.child_process import server_environment, unprivileged_user
from tests.eventually import eventually
from tests.ports import free_port


def programs() -> Path:
    """Return the folder of the programs of a Postgres that has PL/Proxy; raise `ConfigError` where there is none."""
    for library in sorted(Path("/usr/lib/postgresql").glob("*/lib/plproxy.so"), reverse=True):
        if (folder := library.parent.parent / "bin").joinpath("initdb").exists():
            return folder
    raise ConfigError("PL/Proxy is missing: apt-get install postgresql-15 postgresql-15-plproxy.")


@asynccontextmanager
async def empty_router() -> AsyncIterator[str]:
    """Run it for the block; yield the address of its superuser, and of an empty database."""
    folder, port = Path(tempfile.mkdtemp(prefix="onevalet-router-")), free_port()
    server = await asyncio.to_thread(_start, folder, port, programs())
    try:
        url = f"postgresql://router@127.0.0.1:{port}/postgres?sslmode=disable"
        await _until_answering(url, server)
        yield url
    finally:
        server.send_signal(signal.SIGINT)  # at once, whoever is connected
        await asyncio.to_thread(server.wait)
        shutil.rmtree(folder, ignore_errors=True)


def _start(folder: Path, port: int, programs: Path) -> subprocess.Popen[bytes]:
    user = unprivileged_user()
    data = folder / "data"
    options: dict[str, Any] = {"cwd": "/", "env": server_environment()}
    if user:
        os.chown(folder, user.uid, user.gid)
        options |= {"user": user.uid, "group": user.gid, "extra_groups": []}
    begin: list[str | Path] = [programs / "initdb", "-D", data, "-U", "router", "-A", "trust", "-E", "UTF8"]
    subprocess.run([*begin, "--locale=C", "--no-sync"], check=True, stdout=subprocess.DEVNULL, **options)
    settings = {"port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
    command: list[str | Path] = [
        programs / "postgres",
        "-D",
        data,
        *(f"-c{name}={value}" for name, value in settings.items()),
    ]
    with (folder / "log").open("w") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, **options)


async def _until_answering(url: str, server: subprocess.Popen[bytes]) -> None:
    async def answers() -> bool:
        if server.poll() is not None:
            raise RuntimeError("the router's Postgres ended")
        try:
            connection = await asyncpg.connect(url)
        except (OSError, asyncpg.CannotConnectNowError):
            return False
        await connection.close()
        return True

    await eventually(answers)
