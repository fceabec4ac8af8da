"""Taking a backup while everything runs: all rows of one moment, then the files that these rows name."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

from core.db.connector import Connection
from core.db.migrate import refuse_pooler
from core.db.pending import connected
from core.errors import ConfigError
from core.files.blobs import BlobStore
from operations.archives.written import written
from operations.archives.zips import PIECE, ArchiveWriter
from operations.backups.programs import Login, Programs, find_programs, run
from operations.backups.tables import TEXT_FORMS, sum_tables
from operations.backups.types import DUMP, FORMAT, Backup, BackupFailed, BackupManifest, TableSum

# A policy gives the owner all rows; a role that sees a part of them would back up only that part.
_SEES_ALL = """
select r.rolsuper or r.rolbypassrls or exists (
    select from pg_policies p, unnest(p.roles) n
    where p.schemaname = 'public' and p.tablename = 'tenants' and p.policyname = 'owner'
      and pg_has_role(current_user, n, 'usage'))
from pg_roles r where r.rolname = current_user
"""
_KEYS = "select distinct key from files where state = 'kept' order by key"
_STILL_KEPT = "select distinct key from files where state = 'kept' and key = any ($1) order by key"
_KEY_IDS = "select distinct secret_key_id from data_keys order by 1"


@dataclass(frozen=True, slots=True)
class BackupTaker:
    """Take backups of an installation. `url` logs in as the owner of the database, `version` is OneValet's own."""

    url: str
    blobs: BlobStore
    version: str

    async def take(self, path: Path, now: datetime) -> Backup:
        """Write a backup to a new file. Raises `ConfigError`, `BackupFailed`, and `OSError` for disk and store."""
        with written(path) as out:
            manifest = await self._write(out, now)
        return Backup(path, manifest)

    async def _write(self, out: IO[bytes], now: datetime) -> BackupManifest:
        writer = ArchiveWriter(now)
        async with connected(self.url) as connection:
            await refuse_pooler(connection, "`backup`")
            await _check_reader(connection)
            server = connection.get_server_version().major
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                await connection.execute(TEXT_FORMS)
                snapshot = await connection.fetchval("select pg_export_snapshot()")
                programs = await asyncio.to_thread(find_programs, server)
                await self._dump(writer, out, programs, snapshot)
                tables = await sum_tables(connection)
                keys = [row["key"] for row in await connection.fetch(_KEYS)]
                secret_keys = [row["secret_key_id"] for row in await connection.fetch(_KEY_IDS)]
                schema = await connection.fetchval("select max(number) from schema_migrations")
            # A file's bytes are stored before its row, so each file named by a row of that moment exists.
            missing = await self._files(writer, out, keys)
            kept = await connection.fetch(_STILL_KEPT, missing)
        lost = [row["key"] for row in kept]
        manifest = BackupManifest(
            format=FORMAT,
            onevalet=self.version,
            schema_version=schema,
            taken_at=now,
            postgres=server,
            secret_keys=tuple(secret_keys),
            tables=_checked(tables),
            gone=tuple(key for key in missing if key not in lost),
            lost=tuple(lost),
            entries=tuple(writer.entries),
        )
        writer.close(manifest)
        await asyncio.to_thread(out.write, writer.take())
        return manifest

    async def _dump(self, writer: ArchiveWriter, out: IO[bytes], programs: Programs, snapshot: str) -> None:
        login = Login.of(self.url)
        arguments = ["--format=custom", "--no-owner", "--no-comments", "--schema=public", "--enable-row-security"]
        arguments += [f"--snapshot={snapshot}", f"--dbname={login.address}"]
        with writer.entry(DUMP, packed=False) as entry:
            async with run(programs, "pg_dump", arguments, login) as dumping:
                while dumping.process.stdout and (piece := await dumping.process.stdout.read(PIECE)):
                    await asyncio.to_thread(entry.write, piece)
                    await asyncio.to_thread(out.write, writer.take())
                if failure := await dumping.ended():
                    raise BackupFailed(f"The database was not dumped: {failure}.")

    async def _files(self, writer: ArchiveWriter, out: IO[bytes], keys: Sequence[str]) -> Sequence[str]:
        """Write people's files; return the keys of those without bytes."""
        missing = []
        for key in keys:
            content = await self.blobs.get(key)
            if content is None:
                missing.append(key)
                continue
            with writer.entry(f"files/{key}", packed=False) as entry:
                entry.file = key
                await asyncio.to_thread(entry.write, content)
            await asyncio.to_thread(out.write, writer.take())
        return missing


async def _check_reader(connection: Connection) -> None:
    await connection.execute("set role none")
    if not await connection.fetchval("select to_regclass('public.tenants') is not null"):
        raise ConfigError("This database has no tables of OneValet: run `migrate` first.")
    if not await connection.fetchval(_SEES_ALL):
        user = await connection.fetchval("select current_user")
        raise ConfigError(
            f"The user {user} may not read everybody's rows: set ONEVALET_BACKUP_DATABASE_URL to the address with"
            " which `migrate` runs, that of the database's owner."
        )


def _checked(tables: Sequence[TableSum]) -> tuple[TableSum, ...]:
    if not any(table.name == "schema_migrations" and table.rows for table in tables):
        raise BackupFailed("The database shows no rows to this user.")
    return tuple(tables)
