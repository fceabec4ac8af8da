"""A backup of an installation, and where it is restored to: a database whose owner is no superuser."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from core.files.blobs import FolderStore
from operations.backups.restoring import Restorer
from operations.backups.taking import BackupTaker
from operations.backups.types import Backup, open_backup
from tests.operations.tenants.harness import Installation
from tests.services import RunServices

OWNER = "restoring_owner"
PASSWORD = "p@ss:w/rd"


@dataclass(frozen=True, slots=True)
class Backups:
    """An installation, and its backups beside it."""

    installation: Installation

    @property
    def taker(self) -> BackupTaker:
        """Return what takes backups."""
        return BackupTaker(self.installation.store.url, self.installation.files.blobs, "0.0.1")

    async def take(self, name: str = "backup.zip") -> Backup:
        """Take a backup, and check it as whoever reads it does."""
        taken = await self.taker.take(self.installation.folder / name, self.installation.clock.now())
        assert open_backup(taken.path).manifest == taken.manifest
        return taken


@dataclass(frozen=True, slots=True)
class Target:
    """Where a backup is restored to."""

    url: str
    folder: Path
    admin_url: str = ""

    @property
    def restorer(self) -> Restorer:
        """Return what restores."""
        return Restorer(self.url)

    @property
    def files(self) -> FolderStore:
        """Return the store of files."""
        return FolderStore(self.folder)

    async def column(self, statement: str, *args: object) -> list[object]:
        """Return the first column of a query, as the database's owner."""
        connection = await asyncpg.connect(self.url)
        try:
            return [row[0] for row in await connection.fetch(statement, *args)]
        finally:
            await connection.close()

    async def tables(self) -> dict[str, list[object]]:
        """Return every row of every table as text."""
        names = await self.column("select tablename::text from pg_tables where schemaname = 'public' order by 1")
        return {str(name): await self.column(f"select t::text from {name} t order by 1") for name in names}  # noqa: S608


async def all_rows(url: str) -> dict[str, list[object]]:
    """Return every row of every table of a database as text."""
    return await Target(url, Path()).tables()


@asynccontextmanager
async def new_database(services: RunServices, name: str) -> AsyncIterator[str]:
    """Yield the URL of an empty database for an owner who may do no more than owners may."""
    admin = await asyncpg.connect(services.database_url)
    try:
        if not await admin.fetchval("select 1 from pg_roles where rolname = $1", OWNER):
            await admin.execute(f"create role {OWNER} login createdb createrole password '{PASSWORD}'")
        await admin.execute(f"drop database if exists {name} with (force)")
        await admin.execute(f"create database {name} owner {OWNER}")
        within = await asyncpg.connect(services.on_database(name))
        await within.execute("create extension vector")
        await within.execute(f"grant onevalet_app to {OWNER}")
        await within.close()
        parts = urlsplit(services.on_database(name))
        host = parts.netloc.rpartition("@")[2]
        yield parts._replace(netloc=f"{OWNER}:p%40ss%3Aw%2Frd@{host}").geturl()
    finally:
        await admin.execute(f"drop database if exists {name} with (force)")
        await admin.close()
