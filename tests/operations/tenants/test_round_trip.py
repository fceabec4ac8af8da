"""A person with rows in every table: exported, deleted, imported, and the same row by row."""

import json
from zipfile import ZipFile

from core.people.access_policy import PersonRole
from core.people.table_rules import Archived
from operations.tenants.export import Exporter
from operations.tenants.tables import archive_rules, imported_tables
from tests.operations.tenants.harness import LETTER, Installation

ENDED = {
    ("approvals", "state"): ("pending", "cancelled"),
    ("questions", "state"): ("open", "closed"),
    ("pool_entries", "status"): ("WAITING_FOR_INPUT", "CANCELLED"),
    ("run_notices", "state"): ("open", "failed"),
    ("lanes", "process"): ("w1", None),
    ("standing_consents", "state"): ("active", "ended"),
}
"""What an import ends of the rows that this person has."""
RENEWED = {("approvals", "token"), ("questions", "token"), ("files", "key")}


async def test_export_delete_import_gives_the_same_rows_back(installation: Installation) -> None:
    ann, bob = installation.ann, installation.bob
    before, bobs = await installation.rows(ann), await installation.rows(bob)
    assert [table for table, rows in before.items() if not rows] == []
    archive = await installation.archive()
    deleted = await installation.delete()
    assert deleted is not None
    assert [table for table, rows in (await installation.rows(ann)).items() if rows] == []
    assert await installation.rows(bob) == bobs
    imported = await installation.importer.take_in(archive, PersonRole.MEMBER)
    assert (imported.tenant_id, imported.role, imported.files) == (ann, PersonRole.MEMBER, 1)
    after = await installation.rows(ann)
    for table in imported_tables():
        expected = [_imported(table, json.loads(row)) for row in before[table]]
        found = [_without(table, json.loads(row)) for row in after[table]]
        expected = [row for row in expected if table != "files" or row["state"] == "kept"]
        assert sorted(map(str, found)) == sorted(map(str, expected)), table
    assert await installation.rows(bob) == bobs
    [letter] = [file for file in await installation.files.list(ann) if file.name == "letter.txt"]
    assert await installation.files.bytes_of(ann, letter.id) == LETTER


async def test_what_is_not_imported_is_told_without_its_secrets(installation: Installation) -> None:
    before = await installation.rows(installation.ann)
    archive = await installation.archive()
    told = [table for table, rule in archive_rules().items() if rule.how is Archived.TOLD]
    assert {"credentials", "event_sources"} <= set(told)
    for table in told:
        exported = [json.loads(row) for row in archive.rows(table)]
        expected = [json.loads(row) for row in before[table]]
        secret = archive_rules()[table].secret
        assert exported == [{k: v for k, v in row.items() if k not in secret} for row in expected], table
    with ZipFile(archive.path) as packed:
        [account] = json.loads(packed.read("accounts.json"))
        assert b"BEGIN:VCALENDAR" in packed.read("calendar/tasks.ics")
        assert b"TEL;VALUE=text:+1" in packed.read("contacts/contacts.vcf")
    assert (account["service"], account["account"]) == ("mail", "work")
    assert account["since"]


async def test_an_export_has_no_secret_and_nothing_of_another_person(installation: Installation) -> None:
    planted = await installation.plant(installation.bob, "bobs-")
    assert len(planted) >= 50
    admin = installation.store.admin
    secrets = {
        "credentials": "credentials_json",
        "data_keys": "wrapped",
        "event_sources": "secret_hash",
        "export_links": "token_hash",
        "console_links": "token_hash",
        "console_sessions": "token_hash",
        "client_tokens": "token_hash",
        "link_codes": "code_hash",
        "approvals": "confirm_hash",
    }
    for table, column in secrets.items():
        await admin.execute(
            f"update {table} set {column} = $2 where tenant_id = $1",  # noqa: S608
            installation.ann,
            f"canary-{table}".encode(),
        )
    await admin.execute("update approvals set token = 'canary-token' where tenant_id = $1", installation.ann)
    with ZipFile(await installation.export()) as packed:
        everything = b"\n".join(packed.read(name) for name in packed.namelist())
    assert installation.ann.encode() in everything
    assert b"bobs-" not in everything
    assert b"canary-" not in everything
    assert b"canary-".hex().encode() not in everything


async def test_an_export_reads_all_rows_of_one_moment(installation: Installation) -> None:
    store, blobs = installation.store, installation.files.blobs
    exporter = Exporter(store.database, blobs, installation.clock, "0.0.1", installation.credentials)
    pieces = exporter.pieces(installation.ann)
    path = installation.folder / "moment.zip"
    with path.open("wb") as out:
        out.write(await anext(pieces))
        # While it is made, somebody writes.
        await installation.store.admin.execute(
            "insert into notifications (tenant_id, id, category, urgency, text, dedupe_key, state, at)"
            " values ($1, 'late', 'general', 'normal', 'news', 'late', 'sent', now())",
            installation.ann,
        )
        async for piece in pieces:
            out.write(piece)
    with ZipFile(path) as packed:
        assert [row["id"] for row in json.loads(packed.read("tables/notifications.json"))] == ["ntf"]


def _imported(table: str, row: dict[str, object]) -> dict[str, object]:
    """Return a row as it is to be after its import."""
    changed = {column: new for (of, column), (old, new) in ENDED.items() if of == table and row[column] == old}
    return _without(table, row | changed)


def _without(table: str, row: dict[str, object]) -> dict[str, object]:
    return {column: value for column, value in row.items() if (table, column) not in RENEWED}
