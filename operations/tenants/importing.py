"""Importing a person from an archive: all of it in a transaction, or nothing."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import batched

import asyncpg

from core.db.database import Connection, Database, fetch_one
from core.files.blobs import BlobStore
from core.ids import IdMaker, partition_of
from core.json_types import JsonObject, read_json
from core.people.access_policy import PersonRole
from operations.archives.zips import ArchiveRefused
from operations.tenants.archive import Archive, table_path
from operations.tenants.export import columns_of
from operations.tenants.tables import archive_rules, exported_tables, imported_tables
from operations.tenants.unproven import NOT_FITTING, SIGNED_ALONE, UNPROVEN, Places, add_stand_in

_ROWS = 200
_FILLED = {
    "approvals": {"token": "gen_random_uuid()::text"},
    "questions": {"token": "gen_random_uuid()::text"},
    "files": {"key": "$3::jsonb -> 'files' ->> v.id"},
    "message_words": {
        "words": "case when v.tenant_id = $1 then v.words"
        " else person_word($1) || ts_delete(v.words, 'person ' || v.tenant_id) end"
    },
}
"""Values that are created here, by table and column: secrets without which there is no row, and their person's id."""
_TIMEOUT = 600.0
"""Time limit in seconds of a statement of an import."""
_TWICE = "What this archive tells is here already: it was imported before, or its person never left."


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported person. `tenant_id` differs from the archive's if another person had that id here."""

    tenant_id: str
    role: PersonRole
    rows: int
    files: int
    left: tuple[str, ...] = ()
    """The archive's unconfirmed addresses, as `sms:+15551234567`: they are not the person's here."""


@dataclass(frozen=True, slots=True)
class Importer:
    """Import archives."""

    database: Database
    blobs: BlobStore
    make_id: IdMaker

    async def take_in(self, archive: Archive, role: PersonRole | None = None, admit: Collection[str] = ()) -> Imported:
        """Import a checked archive. Raises `ArchiveRefused` if it does not fit here; nothing is changed then.

        `role` None: the archived role, but a member for an owner. An archive passes through its person's hands, and
        people cannot make themselves the owner.

        `admit`: the addresses, such as `sms:+15551234567`, that the operator knows as this person's. In an archive
        signed here, all addresses are confirmed; from any other archive, which its person may have changed, only these
        are imported.
        """
        await self._check_schema(archive)
        places = Places.of(_read(archive, "identities"), signed=archive.signed, admit=admit)
        tenant_id = await self._free_id(archive, places)
        files = await self._store_files(archive, tenant_id)
        stand_in = self.make_id("idn")
        told: JsonObject = {"files": {**files}, "identities": [*places.confirmed], "stand_in": stand_in}
        try:
            async with self.database.tenant(tenant_id) as connection:
                await connection.execute("set constraints all deferred")
                rows = 0
                for table in imported_tables():
                    if archive.has(table) and (archive.signed or table not in SIGNED_ALONE):
                        rows += await _insert(connection, archive, table, tenant_id, told)
                await add_stand_in(connection, tenant_id, stand_in)
                given = await _give_role(connection, tenant_id, role)
                await connection.execute("delete from file_deletions where key = any ($1)", list(files.values()))
                await connection.execute("set constraints all immediate")
        except asyncpg.UniqueViolationError as error:
            raise ArchiveRefused(_TWICE) from error
        except (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError) as error:
            raise ArchiveRefused(NOT_FITTING) from error
        return Imported(tenant_id, given, rows, len(files), places.left)

    async def _check_schema(self, archive: Archive) -> None:
        """Raise `ArchiveRefused` for an archive of a newer version, and for tables or columns that are not ours."""
        known = await self.database.one("select max(number) as number from schema_migrations")
        if archive.manifest.schema_version > known["number"]:
            raise ArchiveRefused("The archive was made by a newer OneValet: update this one first.")
        paths = {table_path(table) for table in exported_tables()}
        for entry in archive.manifest.entries:
            if entry.path.startswith("tables/") and entry.path not in paths:
                raise ArchiveRefused(f"The archive has {entry.path}, which is no table here.")
        async with self.database.tenant(archive.manifest.person) as connection:
            for table in imported_tables():
                if strange := set(archive.columns(table)) - set(await columns_of(connection, table)):
                    raise ArchiveRefused(f"The archive's {table} has {min(strange)}, which is no column here.")

    async def _free_id(self, archive: Archive, places: Places) -> str:
        """Return the person's id here. Raises `ArchiveRefused` if an address of theirs belongs to another person."""
        if len(_read(archive, "tenants")) != 1:
            raise ArchiveRefused("The archive is not about one person: it was changed.")
        for place in places.confirmed.values():
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


def _read(archive: Archive, table: str) -> list[JsonObject]:
    """Return the rows of a small table; raise `ArchiveRefused` if any is not an object."""
    try:
        rows = [read_json(row) for row in archive.rows(table)] if archive.has(table) else []
    except ValueError as error:
        raise ArchiveRefused(NOT_FITTING) from error
    objects = [row for row in rows if isinstance(row, dict)]
    if len(objects) < len(rows):
        raise ArchiveRefused(NOT_FITTING)
    return objects


async def _insert(connection: Connection, archive: Archive, table: str, tenant_id: str, told: JsonObject) -> int:
    made = {**_FILLED.get(table, {}), **({} if archive.signed else UNPROVEN.get(table, {}))}
    columns = [*dict.fromkeys([*archive.columns(table), *made])]
    values = [_value(table, column, made) for column in columns]
    named = ", ".join(f'"{column}"' for column in columns)
    # Files whose bytes are not in the archive were deleted while it was made.
    # Of the identities, those are taken in that are proven or confirmed.
    only = f" where $3::jsonb -> '{table}' ? v.id" if table in told else " where $3::jsonb is not null"
    statement = (
        f"insert into {table} ({named}) overriding system value select {', '.join(values)}"  # noqa: S608
        f" from jsonb_populate_recordset(null::{table}, $2::text::jsonb) v{only}"
        + (" on conflict do nothing" if table == "inbox_keys" else "")
    )
    count = 0
    for rows in batched(archive.rows(table), _ROWS):
        done = await connection.execute(statement, tenant_id, f"[{','.join(rows)}]", told, timeout=_TIMEOUT)
        count += int(done.rpartition(" ")[2])
    return count


def _value(table: str, column: str, made: Mapping[str, str]) -> str:
    """Return the expression of SQL for a column of a row that is imported."""
    if column == "tenant_id":
        return "$1"
    if column in made:
        return made[column]
    changes = archive_rules()[table].ended.get(column, {})
    if None in changes:
        return _literal(changes[None])
    cases = "".join(f" when {_literal(old)} then {_literal(new)}" for old, new in changes.items())
    return f'case v."{column}"{cases} else v."{column}" end' if cases else f'v."{column}"'


def _literal(value: str | bool | None) -> str:
    """Return a constant as SQL."""
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
