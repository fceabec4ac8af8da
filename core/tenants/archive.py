"""A person's archive: their tables as JSON, their files, and a manifest.

A table is one JSON array with a row on each line, so that it is read a line at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zipfile import ZipFile

from core.archives.zips import Entry, ManifestBase, read_manifest

FORMAT = 1


class Manifest(ManifestBase):
    """What an archive says of itself."""

    person: str
    exported_at: datetime


def table_path(table: str) -> str:
    return f"tables/{table}.json"


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive whose every entry is what its manifest says. `path` must not change while it is read."""

    path: Path
    manifest: Manifest

    def has(self, table: str) -> bool:
        return any(entry.path == table_path(table) for entry in self.manifest.entries)

    def columns(self, table: str) -> tuple[str, ...]:
        return next((entry.columns for entry in self.manifest.entries if entry.path == table_path(table)), ())

    def rows(self, table: str) -> Iterator[str]:
        """Yield a table's rows as JSON, one at a time. Raises `ArchiveRefused`."""
        with ZipFile(self.path) as packed, packed.open(table_path(table)) as lines:
            for line in lines:
                row = line.strip().removesuffix(b",")
                if row not in (b"[", b"]"):
                    yield row.decode()

    def file(self, entry: Entry) -> bytes:
        with ZipFile(self.path) as packed:
            return packed.read(entry.path)


def open_archive(path: Path) -> Archive:
    """Check an archive from end to end. Raises `ArchiveRefused`, also for one that was cut or changed."""
    return Archive(path, read_manifest(path, Manifest, FORMAT))
