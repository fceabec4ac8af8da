"""The parts of a backup: an archive with a dump, people's files and a manifest; and its errors."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from core.errors import OneValetError
from operations.archives.zips import ManifestBase, read_manifest

FORMAT = 1
DUMP = "database.dump"


class BackupFailed(OneValetError):
    """A backup that was not taken, or not restored, and the reason in a sentence."""


class TableSum(BaseModel):
    """The rows of a table: how many there are, and the sum of their hashes, which does not depend on their order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    rows: int
    hashes: str


class BackupManifest(ManifestBase):
    """The description of a backup."""

    taken_at: datetime
    postgres: int
    """The server's major version: an older server may not understand the dump."""
    secret_keys: tuple[str, ...]
    """The ids of the keys that people's data keys are wrapped with; the keys themselves are in no backup."""
    tables: tuple[TableSum, ...]
    gone: tuple[str, ...] = ()
    """Keys of files that were deleted while the backup was taken."""
    lost: tuple[str, ...] = ()
    """Keys of files whose bytes the store did not have, though no deletion is recorded."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup whose every entry matches its manifest. `path` must not change while it is read."""

    path: Path
    manifest: BackupManifest

    @property
    def rows(self) -> int:
        """Return the number of rows in it."""
        return sum(table.rows for table in self.manifest.tables)

    @property
    def files(self) -> dict[str, str]:
        """Return the entries of people's files by their keys."""
        return {entry.file: entry.path for entry in self.manifest.entries if entry.file}


def open_backup(path: Path) -> Backup:
    """Check a backup from end to end. Raises `operations.archives.zips.ArchiveRefused`, also if it was changed."""
    return Backup(path, read_manifest(path, BackupManifest, FORMAT))
