"""An archive that does not fit is refused in one sentence, and nothing of it is taken in."""

import json
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from core.people.access_policy import PersonRole
from operations.archives.zips import MANIFEST, ArchiveRefused
from operations.tenants.archive import open_archive
from tests.core.db.test_row_security import ANN
from tests.operations.tenants.harness import LETTER, Installation
from tests.operations.tenants.rewriting import Contents, manifest_with, rewritten

ANNS = f"sms:{ANN}"


def edit_text(contents: Contents) -> None:
    """Have the person say something else."""
    contents["tables/inbound.json"] = contents["tables/inbound.json"].replace(b"hello", b"hallo")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (edit_text, "tables/inbound.json of the archive is not what was exported"),
        (lambda contents: contents.pop("tables/tasks.json"), "other entries than its manifest names"),
        (lambda contents: contents.update(more=b"x"), "other entries than its manifest names"),
        (lambda contents: contents.pop(MANIFEST), "not a whole archive"),
        (manifest_with(format=3), "made by a newer OneValet"),
        (manifest_with(entries="none"), "manifest cannot be read"),
    ],
)
async def test_a_changed_archive_is_refused(
    installation: Installation, change: Callable[[Contents], None], says: str
) -> None:
    path = await installation.export()
    open_archive(path, installation.keys)
    with pytest.raises(ArchiveRefused, match=says):
        open_archive(rewritten(path, change), installation.keys)


async def test_a_cut_archive_is_refused_wherever_it_is_cut(installation: Installation) -> None:
    whole = (await installation.export()).read_bytes()
    cut = installation.folder / "cut.zip"
    for size in (0, 10, len(whole) // 2, len(whole) - 30, len(whole) - 1):
        cut.write_bytes(whole[:size])
        with pytest.raises(ArchiveRefused, match="not a whole archive"):
            open_archive(cut, installation.keys)
    with pytest.raises(ArchiveRefused, match="There is no file"):
        open_archive(cut.with_name("none.zip"), installation.keys)


async def test_what_does_not_fit_leaves_nothing_behind(installation: Installation) -> None:
    archive = await installation.archive()
    importer, store = installation.importer, installation.store
    # The person is here still, under the same address.
    with pytest.raises(ArchiveRefused, match=f"is {installation.ann} here"):
        await importer.take_in(archive)
    newer = open_archive(rewritten(archive.path, manifest_with(schema_version=9999)), installation.keys)
    with pytest.raises(ArchiveRefused, match="newer OneValet"):
        await importer.take_in(newer, admit=[ANNS])
    await installation.delete()
    before = await store.db.tenants.column("tenant_id", order="1")

    def with_columns(contents: Contents) -> None:
        told = json.loads(contents[MANIFEST])
        for entry in told["entries"]:
            if entry["path"] == "tables/tasks.json":
                entry["columns"].append("mood")
        contents[MANIFEST] = json.dumps(told).encode()

    with pytest.raises(ArchiveRefused, match="has mood, which is no column here"):
        await importer.take_in(open_archive(rewritten(archive.path, with_columns), installation.keys), admit=[ANNS])
    # A message of hers is somebody's already: it fails in the last tables, when most rows are written.
    await store.db.outbound_parts.change({"ref": _ref_in(archive.path)})
    with pytest.raises(ArchiveRefused, match="imported before"):
        await importer.take_in(archive)
    assert await store.db.tenants.column("tenant_id", order="1") == before
    # The bytes that were stored are to be deleted.
    assert await store.db.file_deletions.count() == 1
    await store.admin.execute("update file_deletions set deleted_at = clock_timestamp()")
    await installation.files.delete_bytes()
    left = (installation.folder / "files" / installation.ann).rglob("*")
    assert [path for path in left if path.is_file()] == []


async def test_an_id_that_is_somebody_elses_is_replaced(installation: Installation) -> None:
    archive = await installation.archive()
    await installation.delete()
    await installation.store.db.tenants.add(tenant_id=installation.ann)
    imported = await installation.importer.take_in(archive)
    assert imported.tenant_id not in (installation.ann, installation.bob)
    assert [table for table, rows in (await installation.rows(installation.ann)).items() if rows] == ["tenants"]
    words = await installation.store.column(
        "select words::text from message_words where tenant_id = $1", imported.tenant_id
    )
    assert words
    for found in map(str, words):
        # Whose message it is stands among its words, by which it is found.
        assert (f"'person {imported.tenant_id}'" in found, installation.ann in found) == (True, False)
    [file] = await installation.files.list(imported.tenant_id)
    assert await installation.files.bytes_of(imported.tenant_id, file.id) == LETTER


@pytest.mark.parametrize(("asked", "given"), [(None, PersonRole.MEMBER), (PersonRole.OWNER, PersonRole.OWNER)])
async def test_nobody_becomes_the_owner_by_their_archive(
    installation: Installation, asked: PersonRole | None, given: PersonRole
) -> None:
    await installation.store.db.tenants.change({"role": "owner", "tier": "gold"})
    archive = await installation.archive()
    await installation.delete()
    assert (await installation.importer.take_in(archive, asked)).role is given
    tier = await installation.store.db.tenants.one("tier", tenant_id=installation.ann)
    assert tier == ""


def _ref_in(path: Path) -> str:
    with ZipFile(path) as packed:
        return str(json.loads(packed.read("tables/outbound_parts.json"))[0]["ref"])
