"""Importing a person from an archive: all of it in one transaction, or nothing."""

import json
from dataclasses import dataclass
from itertools import batched

import asyncpg

from core.archives.zips import ArchiveRefused
from core.db.database import Connection, Database, fetch_one
from core.files.blobs import BlobStore
from core.ids import IdMaker, partition_of
from core.json_types import JsonObject
from core.people.access_policy import PersonRole
from core.tenants.archive import Archive, table_path
from core.tenants.export import columns_of
from core.tenants.tables import ARCHIVING, EXPORTED, IMPORTED

_ROWS = 200
_RENAMED = {
    ("message_words", "words"): "case when v.tenant_id = $1 then v.words"
    " else person_word($1) || ts_delete(v.words, 'person ' || v.tenant_id) end"
}
"""Values that name their person."""
_FILLED = dict.fromkeys((("approvals", "token"), ("questions", "token")), "gen_random_uuid()::text")
"""New values for secrets without which there is no row."""
_TIMEOUT = 600.0
"""Seconds that one statement of an import may take."""
_TWICE = "What this archive tells is here already: it was imported before, or its person never left."


@dataclass(frozen=True, slots=True)
class Imported:
    """A person who was taken in. `tenant_id` differs from the archive's where another person had that id here."""

    tenant_id: str
    role: PersonRole
    rows: int
    files: int


@dataclass(frozen=True, slots=True)
class Importer:
    """Take archives in."""

    database: Database
    blobs: BlobStore
    make_id: IdMaker

    async def take_in(self, archive: Archive, role: PersonRole | None = None) -> Imported:
        """Import a checked archive. Raises `ArchiveRefused` where it does not fit here; nothing is changed then.

        `role` None: the archived one, but a member for an owner. An archive passes through its person's hands, and
        nobody makes themselves the owner.
        """
        await self._check_schema(archive)
        tenant_id = await self._free_id(archive)
        files = await self._store_files(archive, tenant_id)
        try:
            async with self.database.tenant(tenant_id) as connection:
                await connection.execute("set constraints all deferred")
                rows = 0
                for table in IMPORTED:
                    if archive.has(table):
                        rows += await _insert(connection, archive, table, tenant_id, files)
                given = await _give_role(connection, tenant_id, role)
                await connection.execute("delete from file_deletions where key = any ($1)", list(files.values()))
                await connection.execute("set constraints all immediate")
        except asyncpg.UniqueViolationError as error:
            raise ArchiveRefused(_TWICE) from error
        except (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError) as error:
            raise ArchiveRefused("The archive's rows do not fit together: it was changed.") from error
        return Imported(tenant_id, given, rows, len(files))

    async def _check_schema(self, archive: Archive) -> None:
        """Raise `ArchiveRefused` for an archive of a newer version, and for tables or columns that are not ours."""
        known = await self.database.one("select max(number) as number from schema_migrations")
        if archive.manifest.schema_version > known["number"]:
            raise ArchiveRefused("The archive was made by a newer OneValet: update this one first.")
        paths = {table_path(table) for table in EXPORTED}
        for entry in archive.manifest.entries:
            if entry.path.startswith("tables/") and entry.path not in paths:
                raise ArchiveRefused(f"The archive has {entry.path}, which is no table here.")
        async with self.database.tenant(archive.manifest.person) as connection:
            for table in IMPORTED:
                if strange := set(archive.columns(table)) - set(await columns_of(connection, table)):
                    raise ArchiveRefused(f"The archive's {table} has {min(strange)}, which is no column here.")

    async def _free_id(self, archive: Archive) -> str:
        """Return the id of the person here. Raises `ArchiveRefused` where an address of theirs is somebody's."""
        people = [json.loads(row) for row in archive.rows("tenants")] if archive.has("tenants") else []
        if len(people) != 1:
            raise ArchiveRefused("The archive is not about one person: it was changed.")
        for row in archive.rows("identities"):
            place: JsonObject = json.loads(row)
            found = await self.database.call(
                "select tenant_id from find_identity($1,$2,$3)", place["channel"], place["account"], place["user_key"]
            )
            if found:
                raise ArchiveRefused(f"{place['channel']} {place['user_key']} is {found['tenant_id']} here.")
        person = archive.manifest.person
        taken = await self.database.tenant_row(person, "select from tenants where tenant_id = $1")
        new: str = (await self.database.one("select in_partition($1) as id", self.make_id("tn")))["id"]
        return person if taken is None and partition_of(person) == partition_of(new) else new

    async def _store_files(self, archive: Archive, tenant_id: str) -> dict[str, str]:
        """Store the bytes of all files; return their keys by the files' ids.

        Each key is to be deleted in an hour, unless the rows that name it are committed by then.
        """
        keys: dict[str, str] = {}
        for entry in archive.manifest.entries:
            if entry.file is None:
                continue
            keys[entry.file] = key = f"{tenant_id}/{entry.sha256}-{self.make_id('blob')}"
            await self.database.rows(
                "insert into file_deletions (key, deleted_at) values ($1, clock_timestamp() + interval '1 hour')"
                " on conflict (key) do nothing",
                key,
            )
            await self.blobs.put(key, archive.file(entry))
        return keys


async def _insert(connection: Connection, archive: Archive, table: str, tenant_id: str, files: dict[str, str]) -> int:
    columns = [*archive.columns(table), *(column for of, column in _FILLED if of == table)]
    values = [_value(table, column) for column in columns]
    named = ", ".join(f'"{column}"' for column in columns)
    # Files whose bytes are not in the archive were deleted while it was made.
    only = " where $3::jsonb ? v.id" if table == "files" else " where $3::jsonb is not null"
    statement = (
        f"insert into {table} ({named}) overriding system value select {', '.join(values)}"  # noqa: S608
        f" from jsonb_populate_recordset(null::{table}, $2::text::jsonb) v{only}"
        + (" on conflict do nothing" if table == "inbox_keys" else "")
    )
    count = 0
    for rows in batched(archive.rows(table), _ROWS):
        done = await connection.execute(statement, tenant_id, f"[{','.join(rows)}]", files, timeout=_TIMEOUT)
        count += int(done.rpartition(" ")[2])
    return count


def _value(table: str, column: str) -> str:
    """Return the expression of SQL for a column of a row that is imported."""
    if column == "tenant_id":
        return "$1"
    if (table, column) == ("files", "key"):
        return "$3::jsonb ->> v.id"
    if made := (_FILLED | _RENAMED).get((table, column)):
        return made
    changes = ARCHIVING[table].ended.get(column, {})
    if None in changes:
        return _literal(changes[None])
    cases = "".join(f" when {_literal(old)} then {_literal(new)}" for old, new in changes.items())
    return f'case v."{column}"{cases} else v."{column}" end' if cases else f'v."{column}"'


def _literal(value: str | bool | None) -> str:
    """Return a constant of ours for SQL."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"'{value}'"


async def _give_role(connection: Connection, tenant_id: str, role: PersonRole | None) -> PersonRole:
    row = await fetch_one(
        connection,
        "update tenants set role = coalesce($2, case role when 'owner' then 'member' else role end)"
        " where tenant_id = $1 returning role",
        tenant_id,
        role.value if role else None,
    )
    return PersonRole(row["role"])
