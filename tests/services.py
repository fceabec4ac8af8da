"""The real servers of the tests: one Postgres and one Valkey for each run, and private ones on request."""

import asyncio
import json
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
from redis.asyncio import Redis

from onevalet.servers.lock import FileLock
from onevalet.servers.postgres import Postgres
from onevalet.servers.valkey import Valkey
from tests.namespaces import Host
from tests.servers.hosted import HostedPostgres, HostedValkey

_PREFIX = "onevalet-test-"
_TEMPLATE = "onevalet_template"
_ADDRESSES = "services.json"


@dataclass(frozen=True, slots=True)
class RunServices:
    """What the processes of one test run share; the workers of xdist read it in the run's folder."""

    folder: str
    database_url: str
    redis_url: str

    def on_database(self, name: str) -> str:
        """Return the URL of another database of the run's Postgres."""
        return _on_database(self.database_url, name)

    def write(self) -> None:
        """Write this into the folder, for the workers."""
        path = Path(self.folder) / _ADDRESSES
        path.touch(mode=0o600)
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def of(cls, folder: Path) -> "RunServices":
        """Read what the main process wrote."""
        return cls(**json.loads((folder / _ADDRESSES).read_text()))


class RunServers:
    """The servers of one run. They belong to the process that started the run and end with it in any case."""

    def __init__(self) -> None:
        _sweep()
        self._folder = _make_folder()
        self._lock = FileLock(self._folder / "run.lock")
        self._postgres = Postgres(self._folder, fast=True)
        self._valkey = Valkey(self._folder, fast=True)

    @property
    def folder(self) -> Path:
        """Return the folder of both."""
        return self._folder

    def start(self) -> RunServices:
        """Start both, from the main thread."""
        self._lock.take_now()
        run(self._postgres.start())
        run(self._valkey.start())
        services = RunServices(str(self._folder), self._postgres.url, self._valkey.url)
        services.write()
        return services

    def stop(self) -> None:
        """Stop both and delete their data."""
        run(self._valkey.stop())
        run(self._postgres.stop())
        self._lock.release()
        _remove(self._folder)


@asynccontextmanager
async def private_postgres(host: Host | None = None, **settings: str) -> AsyncIterator[Postgres]:
    """Run a private, durable Postgres whose database has no tables; the test may restart it.

    `settings` are Postgres' own, besides those of `dev`.
    """
    with _private_folder() as folder:
        server = HostedPostgres(folder, host) if host else Postgres(folder)
        server._settings |= settings
        try:
            await server.start()
            yield server
        finally:
            await server.stop()


@asynccontextmanager
async def private_valkey(host: Host | None = None) -> AsyncIterator[Valkey]:
    """Run a private Valkey with an append-only file; the test may flush and restart it."""
    with _private_folder() as folder:
        server = HostedValkey(folder, host) if host else Valkey(folder)
        try:
            await server.start()
            yield server
        finally:
            await server.stop()


async def make_template(services: RunServices) -> None:
    """Apply the migrations to the template of the tests' databases, once for each run.

    This takes a lock, because they also create the application's role, which belongs to the whole cluster.
    """
    from onevalet.migrating import migrate

    lock = FileLock(Path(services.folder) / "template.lock")
    if not await lock.take(60):
        raise TimeoutError("another worker has been making the template database for a minute")
    try:
        if await _execute(services, f"SELECT 1 FROM pg_database WHERE datname = '{_TEMPLATE}'"):  # noqa: S608
            return
        await _execute(services, "DROP DATABASE IF EXISTS half_made WITH (FORCE)")
        await _execute(services, "CREATE DATABASE half_made")
        await migrate(_on_database(services.database_url, "half_made"))
        await _execute(services, f"ALTER DATABASE half_made RENAME TO {_TEMPLATE}")
    finally:
        lock.release()


@asynccontextmanager
async def fresh_database(services: RunServices, name: str) -> AsyncIterator[str]:
    """Yield the URL of a copy of the template database, dropped at the end."""
    await make_database(services, name)
    try:
        yield services.on_database(name)
    finally:
        await drop_database(services, name)


@asynccontextmanager
async def empty_database(services: RunServices) -> AsyncIterator[str]:
    """Yield the URL of a database without tables, dropped at the end."""
    name = f"empty_{secrets.token_hex(4)}"
    await _execute(services, f"CREATE DATABASE {name}")
    try:
        yield services.on_database(name)
    finally:
        await drop_database(services, name)


async def make_database(services: RunServices, name: str) -> None:
    """Copy the template database."""
    await _execute(services, f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE} STRATEGY FILE_COPY")


async def drop_database(services: RunServices, name: str) -> None:
    """Drop a database and end its connections."""
    await _execute(services, f"DROP DATABASE {name} WITH (FORCE)")


async def flush(redis_url: str) -> None:
    """Empty the one numbered database of the URL."""
    async with Redis.from_url(redis_url) as client:
        await client.flushdb()


def on_redis_database(services: RunServices, number: int) -> str:
    """Return the REDIS_URL of another numbered database of the run's Valkey."""
    return services.redis_url.rpartition("/")[0] + f"/{number}"


def run[T](work: Coroutine[None, None, T]) -> T:
    """Run a coroutine from sync code, leaving the current event loop of the thread as it is."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def _on_database(url: str, name: str) -> str:
    return urlsplit(url)._replace(path=f"/{name}").geturl()


async def _execute(services: RunServices, statement: str) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(services.database_url)
    try:
        return await connection.fetch(statement)
    finally:
        await connection.close()


def _make_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    if os.geteuid() == 0:
        folder.chmod(0o711)  # Postgres runs as nobody and must pass; it is our own folder
    return folder


@contextmanager
def _private_folder() -> Iterator[Path]:
    """Yield a folder for one server, held against the sweep of another run, which comes after an hour."""
    folder = _make_folder()
    lock = FileLock(folder / "run.lock")
    lock.take_now()
    try:
        yield folder
    finally:
        lock.release()
        _remove(folder)


def _sweep() -> None:
    """Remove what killed runs left behind: folders of ours whose lock nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        lock = FileLock(folder / "run.lock")
        try:
            status = folder.stat()
            if status.st_uid == os.geteuid() and time.time() - status.st_mtime > 3600 and lock.take_now():
                lock.release()
                _remove(folder)
        except FileNotFoundError:
            continue  # another run swept it first


def _remove(folder: Path) -> None:
    data = folder / "postgres"
    if data.is_symlink():
        shutil.rmtree(data.resolve().parent, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
