"""A backup that was cut short or altered is refused in one sentence, before anything is changed."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from operations.archives.zips import ArchiveRefused
from operations.backups.types import DUMP, open_backup
from tests.operations.backups.harness import Backups


async def test_a_cut_backup_is_refused_wherever_it_is_cut(backups: Backups) -> None:
    backup = await backups.take()
    whole = backup.path.read_bytes()
    cut = backups.installation.folder / "cut.zip"
    for size in (0, 100, len(whole) // 3, len(whole) // 2, len(whole) - 100, len(whole) - 1):
        cut.write_bytes(whole[:size])
        with pytest.raises(ArchiveRefused, match="not a whole archive of OneValet: it was cut"):
            open_backup(cut)


async def test_one_other_byte_is_refused_wherever_it_is(backups: Backups) -> None:
    backup = await backups.take()
    whole = backup.path.read_bytes()
    changed = backups.installation.folder / "changed.zip"
    dump = next(entry for entry in backup.manifest.entries if entry.path == DUMP)
    begin = whole.index(b"PGDMP")
    for place in range(begin, begin + dump.size, dump.size // 40):
        changed.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ArchiveRefused):
            open_backup(changed)


@pytest.mark.parametrize("part", ["database.dump", "files/", "manifest.json"])
async def test_a_part_that_was_written_again_is_refused(backups: Backups, part: str) -> None:
    backup = await backups.take()
    changed = _rewritten(backup.path, part)
    with pytest.raises(ArchiveRefused, match=r"it was changed|not a whole archive"):
        open_backup(changed)


async def test_a_persons_archive_is_no_backup(backups: Backups) -> None:
    path = await backups.installation.export()
    with pytest.raises(ArchiveRefused, match="is another kind"):
        open_backup(path)


async def test_a_backup_that_fails_leaves_no_file(backups: Backups, monkeypatch: pytest.MonkeyPatch) -> None:
    async def get(*_: object) -> bytes | None:
        raise OSError("the store of files cannot be reached")

    monkeypatch.setattr("core.files.blobs.FolderStore.get", get)
    with pytest.raises(OSError, match="store of files"):
        await backups.take()
    assert list(backups.installation.folder.glob("*backup*")) == []


def _rewritten(path: Path, part: str) -> Path:
    """Write an archive with a right checksum of zip's, but other content."""
    changed = path.with_name("rewritten.zip")
    with ZipFile(path) as packed, ZipFile(changed, "w") as out:
        for name in packed.namelist():
            content = packed.read(name)
            out.writestr(name, content[:-1] + b"x" if name.startswith(part) else content)
    return changed
