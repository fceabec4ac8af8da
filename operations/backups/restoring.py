"""Restoring a backup: people's files first, then all rows in a single transaction, which ends by checking them."""

import asyncio
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from tempfile import NamedTemporaryFile
from urllib.parse import urlsplit
from zipfile import ZipFile

import asyncpg

from core.db.connector import Connection
from core.db.migrate import MissingExtension, prepare_for_tables, refuse_pooler
from core.db.pending import connected
from core.db.sql_files import load_migrations
from core.errors import ConfigError
from core.files.blobs import BlobStore
from operations.archives.zips import PIECE
from operations.backups.programs import Login, Programs, Run, find_programs, run
from operations.backups.script import clearing, finishing
from operations.backups.types import DUMP, Backup, BackupFailed

# `finishing` creates these again: the dump names the role that owned the tables of the backup.
_LEFT_OUT = re.compile(r"^\d+; \d+ \d+ (POLICY public \S+ owner |DEFAULT ACL |EXTENSION |ACL - SCHEMA |SCHEMA - )")
_OWNED = re.compile(r"^\d+; \d+ \d+ POLICY public (\S+) owner ")
_UNKNOWN_BEFORE_17 = b"SET transaction_timeout = 0;\n"
_IS_EMPTY = """
select not exists (
    select from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
      and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
                      and d.deptype = 'e'))
"""
_SESSIONS = """
select count(*) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and usename is not null and application_name <> ''
"""


@dataclass(frozen=True, slots=True)
class Restorer:
    """Restore backups into the database that `url` leads to, as its owner."""

    url: str

    async def restore(self, backup: Backup, blobs: BlobStore, *, replace: bool) -> None:
        """Restore files and rows: all of the rows, or none.

        `replace`: delete the database's contents first; otherwise it must be empty. Raises `ConfigError`,
        `BackupFailed`, and `OSError` for the store of files.
        """
        _check_version(backup)
        async with connected(self.url) as connection:
            programs = await self._prepare(connection, backup, replace=replace)
            for key, path in backup.files.items():
                await blobs.put(key, await asyncio.to_thread(_read, backup, path))
            await self._rows(programs, backup, connection.get_server_version().major, replace=replace)
            await connection.execute("analyze", timeout=3600)

    async def verify(self, backup: Backup) -> None:
        """Restore the rows into a database that is dropped again; raise `ConfigError` or `BackupFailed`.

        Its files were checked when it was opened; here they are compared with the rows that name them.
        """
        name = f"onevalet_verify_{secrets.token_hex(6)}"
        async with connected(self.url) as connection:
            await connection.execute("set role none")
            try:
                await connection.execute(f'create database "{name}"')
            except asyncpg.InsufficientPrivilegeError as error:
                user = await connection.fetchval("select quote_ident(current_user)")
                raise ConfigError(
                    f"{user} may not create databases: have a DBA run: alter role {user} createdb;"
                ) from error
            try:
                scratch = urlsplit(self.url)._replace(path=f"/{name}").geturl()
                await Restorer(scratch)._verify(backup)
            except MissingExtension as error:
                raise ConfigError(f"{error} Run it in template1, of which every new database is a copy.") from error
            finally:
                await connection.execute(f'drop database if exists "{name}" with (force)')

    async def _verify(self, backup: Backup) -> None:
        _check_version(backup)
        async with connected(self.url) as connection:
            programs = await self._prepare(connection, backup, replace=False)
            await self._rows(programs, backup, connection.get_server_version().major, replace=False)
            rows = await connection.fetch("select distinct key from files where state = 'kept'")
        absent = {row["key"] for row in rows} - set(backup.files)
        if absent - set(backup.manifest.lost):
            raise BackupFailed(f"{len(absent)} files that rows name are not in the backup.")

    async def _prepare(self, connection: Connection, backup: Backup, *, replace: bool) -> Programs:
        await refuse_pooler(connection, "`restore`")
        server = connection.get_server_version().major
        if server < backup.manifest.postgres:
            raise ConfigError(
                f"The backup is of Postgres {backup.manifest.postgres}, and this server is {server}: restore it into a"
                " server that is as new."
            )
        if replace:
            if others := await connection.fetchval(_SESSIONS):
                raise ConfigError(
                    f"The database is in use by {others} other sessions: stop every web and worker, then restore again."
                )
        elif not await connection.fetchval(_IS_EMPTY):
            raise ConfigError(
                "The database is not empty: give an empty one, or --replace, which deletes what is in it."
            )
        programs = await asyncio.to_thread(find_programs, server)
        await prepare_for_tables(connection)
        return programs

    async def _rows(self, programs: Programs, backup: Backup, server: int, *, replace: bool) -> None:
        login = Login.of(self.url)
        contents = await _contents(programs, backup, login)
        owned = [found[1] for line in contents if (found := _OWNED.match(line))]
        chosen = "\n".join(line for line in contents if not _LEFT_OUT.match(line))
        arguments = ["--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", "--file=-"]
        async with run(
            programs, "psql", [*arguments, f"--dbname={login.address}"], login, reads=True, writes=False
        ) as psql:
            await _write(psql, clearing() if replace else "")
            failure = await _copy_script(programs, backup, login, chosen, psql, patched=server < 17)
            if not failure:
                await psql.feed(iter([finishing(backup.manifest, owned).encode(), b""]))
            else:
                psql.process.kill()  # without its end the transaction is rolled back
            told = await psql.ended()
        if failure or told:
            what = failure if failure and not told.startswith("psql: ") else told or failure
            raise BackupFailed(f"Nothing was restored: {_words(what)}")


async def _copy_script(
    programs: Programs, backup: Backup, login: Login, chosen: str, psql: Run, *, patched: bool
) -> str:
    """Pass a dump to psql as SQL; return the reason of a failure, or nothing."""
    with _list_file(chosen) as listed:
        arguments = [f"--use-list={listed}", "--no-owner", "--no-comments", "--file=-"]
        async with run(programs, "pg_restore", arguments, login, reads=True) as reading:
            feeding = asyncio.create_task(reading.feed(_dump(backup)))
            try:
                return await _pass_on(reading, psql, patched=patched) or await reading.ended()
            finally:
                feeding.cancel()
                with suppress(asyncio.CancelledError):
                    await feeding


async def _pass_on(reading: Run, psql: Run, *, patched: bool) -> str:
    source, target = reading.process.stdout, psql.process.stdin
    if source is None or target is None:
        return "a program has no output"
    try:
        is_first = True
        while piece := await source.read(PIECE):
            if is_first and patched:
                piece = piece.replace(_UNKNOWN_BEFORE_17, b"", 1)
            is_first = False
            target.write(piece)
            await target.drain()
    except ConnectionError:
        return "psql ended early"
    return ""


async def _contents(programs: Programs, backup: Backup, login: Login) -> Sequence[str]:
    """Return the list of a dump's contents, a line for each object."""
    async with run(programs, "pg_restore", ["--list"], login, reads=True) as reading:
        feeding = asyncio.create_task(reading.feed(_dump(backup)))
        told = await reading.process.stdout.read() if reading.process.stdout else b""
        failure = await reading.ended()
        feeding.cancel()
        with suppress(asyncio.CancelledError):
            await feeding
    if failure:
        raise BackupFailed(f"Nothing was restored: {_words(failure)}")
    return told.decode().splitlines()


async def _write(psql: Run, sql: str) -> None:
    if psql.process.stdin is not None:
        psql.process.stdin.write(sql.encode())
        with suppress(ConnectionError):
            await psql.process.stdin.drain()


def _dump(backup: Backup) -> Iterator[bytes]:
    with ZipFile(backup.path) as packed, packed.open(DUMP) as dump:
        while piece := dump.read(PIECE):
            yield piece


def _read(backup: Backup, path: str) -> bytes:
    with ZipFile(backup.path) as packed:
        return packed.read(path)


@contextmanager
def _list_file(chosen: str) -> Iterator[str]:
    with NamedTemporaryFile("w", prefix="onevalet-restore-") as file:
        file.write(chosen + "\n")
        file.flush()
        yield file.name


def _check_version(backup: Backup) -> None:
    known = len(load_migrations())
    if backup.manifest.schema_version > known:
        raise ConfigError(
            f"The backup is of migration {backup.manifest.schema_version}, this code ends with {known}: restore it"
            " with the OneValet that took it, or a newer one."
        )


def _words(failure: str) -> str:
    return failure.rstrip(".") + "."
