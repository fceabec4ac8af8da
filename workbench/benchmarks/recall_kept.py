"""A server for the recall benchmark: deleted at the end, or kept in a folder with its memories."""

import hashlib
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from onevalet.migrating import migrate
from onevalet.servers.postgres import Postgres

_MADE_BY = ("extraction/*.py", "index/embedder.py", "store/memories.py")
"""The files of abilities/memory that decide which memories a message makes."""


@asynccontextmanager
async def kept_database(folder: Path | None, with_model: bool) -> AsyncIterator[str]:
    """Yield the URL of a migrated database; with a folder, the database that the same code and models filled before."""
    with tempfile.TemporaryDirectory(prefix="onevalet-recall-") as passing:
        home = folder or Path(passing)
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o755)  # as root, the server runs as a user of its own
        server = Postgres(home, fast=True)
        await server.start()
        try:
            yield await _database(server.url, f"recall_{_digest(with_model)}")
        finally:
            await server.stop()


async def _database(url: str, name: str) -> str:
    connection = await asyncpg.connect(url)
    try:
        if not await connection.fetchval("select exists (select from pg_database where datname = $1)", name):
            await connection.execute(f"create database {name}")
    finally:
        await connection.close()
    made = url.rpartition("/")[0] + f"/{name}"
    await migrate(made)
    return made


def _digest(with_model: bool) -> str:
    import abilities.memory

    sources = Path(abilities.memory.__path__[0])
    digest = hashlib.blake2b(digest_size=8)
    for pattern in _MADE_BY:
        for path in sorted(sources.glob(pattern)):
            digest.update(path.read_bytes())
    if with_model:
        for name in ("ONEVALET_MODEL", "ONEVALET_EMBEDDING_MODEL", "ONEVALET_MEMORY"):
            digest.update(f"{name}={os.environ.get(name, '')}\n".encode())
    return digest.hexdigest()
