"""Exporting a person: all their data as an archive, written while it is read."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from core.clock import Clock
from core.credentials.store import CredentialStore
from core.db.database import Connection, Database, fetch_one
from core.files.blobs import BlobStore
from core.json_types import JsonObject
from core.tools.account_access import PeoplesAccounts
from operations.archives.zips import PIECE, ArchiveWriter
from operations.tenants.archive import FORMAT, Manifest, archive_keys, table_path
from operations.tenants.readable import Contact, PlannedTask, as_calendar, as_contacts
from operations.tenants.tables import archive_rules, exported_tables

_ROWS = 200
"""Rows that lie in memory at once."""
_TASKS = "select id, title, due_at, zone, cron from planned_work($1) order by number"
_CONTACTS = "select id, channel, user_key, name from recipients where tenant_id = $1 order by id"
_FILES = "select id, key, name, content_type from files where tenant_id = $1 and state = 'kept' order by created_at, id"
_COLUMNS = (
    "select a.attname::text as name from pg_attribute a where a.attrelid = $1::text::regclass and a.attnum > 0"
    " and not a.attisdropped and a.attgenerated = '' order by a.attnum"
)
# Every row of a table, in an order that is always the same.
_KEY = (
    "select string_agg(format('t.%I', a.attname), ', ' order by array_position(x.indkey::int2[], a.attnum)) as key"
    " from pg_index x join pg_attribute a on a.attrelid = x.indrelid and a.attnum = any (x.indkey)"
    " where x.indrelid = $1::text::regclass and x.indisprimary"
)


@dataclass(frozen=True, slots=True)
class Exporter:
    """Make archives. `version` is OneValet's own; without `accounts`, accounts are listed without their permissions.

    The keys of `credentials` sign each archive: it passes through its person's hands.
    """

    database: Database
    blobs: BlobStore
    clock: Clock
    version: str
    credentials: CredentialStore
    accounts: PeoplesAccounts | None = None

    async def pieces(self, tenant_id: str) -> AsyncGenerator[bytes]:
        """Yield a person's archive piece by piece. Raises `StoreUnavailable`, and `OSError` for the store of files.

        The rows are those of one moment, regardless of later writes. Memory holds some rows, and a single file.
        """
        now = self.clock.now()
        writer = ArchiveWriter(now)
        async with aclosing(self._tables(tenant_id, writer, now)) as tables:
            async for piece in tables:
                yield piece
        files = await self.database.tenant_rows(tenant_id, _FILES)
        for file in files:
            async with aclosing(self._file(writer, file)) as content:
                async for piece in content:
                    yield piece
        schema = await self.database.one("select max(number) as number from schema_migrations")
        writer.close(
            Manifest(
                format=FORMAT,
                onevalet=self.version,
                schema_version=schema["number"],
                person=tenant_id,
                exported_at=now,
                entries=tuple(writer.entries),
            ),
            archive_keys(self.credentials.keys),
        )
        yield writer.take()

    async def _tables(self, tenant_id: str, writer: ArchiveWriter, now: datetime) -> AsyncGenerator[bytes]:
        async with self.database.snapshot(tenant_id) as connection:
            for table in exported_tables():
                columns = await columns_of(connection, table)
                key = (await fetch_one(connection, _KEY, table))["key"]
                secret = archive_rules()[table].secret
                shown = [column for column in columns if column not in secret]
                named = ", ".join(f'"{column}"' for column in shown)
                rows = connection.cursor(
                    f"select to_jsonb(t)::text as row from (select {named} from {table} where tenant_id = $1) t"  # noqa: S608
                    f" order by {key}",
                    tenant_id,
                    prefetch=_ROWS,
                )
                with writer.entry(table_path(table)) as entry:
                    entry.columns = tuple(shown)
                    entry.write(b"[")
                    before = b"\n"
                    async for row in rows:
                        entry.write(before + row["row"].encode())
                        before = b",\n"
                        if made := writer.take():
                            yield made
                    entry.write(b"\n]\n")
            tasks = [_task(row) for row in await connection.fetch(_TASKS, tenant_id)]
            people = await connection.fetch(_CONTACTS, tenant_id)
        contacts = [Contact(row["id"], row["channel"], row["user_key"], row["name"]) for row in people]
        with writer.entry("calendar/tasks.ics") as entry:
            entry.write(as_calendar(tasks, now))
        with writer.entry("contacts/contacts.vcf") as entry:
            entry.write(as_contacts(contacts))
        with writer.entry("accounts.json") as entry:
            told = await self._accounts(tenant_id)
            entry.write(json.dumps(told, ensure_ascii=False, indent=1).encode())
        yield writer.take()

    async def _accounts(self, tenant_id: str) -> Sequence[JsonObject]:
        """Return the connected accounts, with scopes and dates; never their credentials."""
        rows = await self.database.tenant_rows(
            tenant_id, "select service, account_name, created_at from credentials where tenant_id = $1 order by 1, 2"
        )
        known = {(one.service, one.name): one for one in await self.accounts.list(tenant_id)} if self.accounts else {}
        stored = await self.credentials.stored(tenant_id)
        scopes = {(one.service, one.name): (one.credentials or {}).get("scopes") for one in stored}
        told: list[JsonObject] = []
        for row in rows:
            key = (row["service"], row["account_name"])
            account, allowed = known.get(key), scopes.get(key)
            told.append(
                {
                    "service": key[0],
                    "account": key[1],
                    "address": account.address if account else "",
                    "abilities": [*sorted(account.abilities)] if account else [],
                    "scopes": allowed if isinstance(allowed, list) else [],
                    "since": row["created_at"].isoformat(),
                }
            )
        return told

    async def _file(self, writer: ArchiveWriter, file: asyncpg.Record) -> AsyncGenerator[bytes]:
        content = await self.blobs.get(file["key"])
        if content is None:
            return  # it was deleted since
        with writer.entry(f"files/{file['id']}{_ending(file['name'], file['content_type'])}", packed=False) as entry:
            entry.file = file["id"]
            for start in range(0, len(content), PIECE):
                entry.write(content[start : start + PIECE])
                yield writer.take()


async def columns_of(connection: Connection, table: str) -> list[str]:
    """Return the columns of a table that are stored, not computed."""
    return [row["name"] for row in await connection.fetch(_COLUMNS, table)]


def _task(row: asyncpg.Record) -> PlannedTask:
    return PlannedTask(row["id"], row["title"], row["due_at"], row["zone"], row["cron"] or "")


def _ending(name: str, content_type: str) -> str:
    """Return the extension of a file's name in the archive. Only letters: names become paths when it is unpacked."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if ending.isascii() and ending.isalnum() and len(ending) <= 8:
        return f".{ending}"
    return ".jpg" if content_type == "image/jpeg" else ""
