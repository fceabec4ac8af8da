"""A person's archive: their tables as JSON, their files, and a manifest.

A table is a JSON array with a row on each line, so that it is read a line at a time.
"""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zipfile import ZipFile

from core.credentials.secret_keys import SecretKeys
from operations.archives.signatures import ArchiveKeys
from operations.archives.zips import ArchiveRefused, Entry, ManifestBase, is_signed, read_manifest

FORMAT = 2
"""2: the manifest is signed; archives of format 1 are not."""
_PURPOSE = b"onevalet archives of people"


class Manifest(ManifestBase):
    """The description of an archive."""

    person: str
    exported_at: datetime


def table_path(table: str) -> str:
    return f"tables/{table}.json"


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive whose every entry matches its manifest. `path` must not change while it is read.

    `signed`: this installation made it, and it is unchanged. A manifest alone proves nothing, since anyone can make
    one.
    """

    path: Path
    manifest: Manifest
    signed: bool

    def has(self, table: str) -> bool:
        return any(entry.path == table_path(table) for entry in self.manifest.entries)

    def columns(self, table: str) -> tuple[str, ...]:
        return next((entry.columns for entry in self.manifest.entries if entry.path == table_path(table)), ())

    def rows(self, table: str) -> Iterator[str]:
        """Yield a table's rows as JSON, a row at a time. Raises `ArchiveRefused`."""
        with ZipFile(self.path) as packed, packed.open(table_path(table)) as lines:
            for line in lines:
                row = line.strip().removesuffix(b",")
                if row not in (b"[", b"]"):
                    yield row.decode()

    def file(self, entry: Entry) -> bytes:
        with ZipFile(self.path) as packed:
            return packed.read(entry.path)


class Unconfirmed(ArchiveRefused):
    """An archive that is not signed here, of whose addresses none was confirmed: its person could not be reached."""

    def __init__(self, addresses: tuple[str, ...]) -> None:
        super().__init__("This installation did not make the archive, or it was changed, and no address is confirmed.")
        self.addresses = addresses


def archive_keys(keys: SecretKeys) -> ArchiveKeys:
    """Return the keys that sign people's archives, made of ONEVALET_SECRET_KEYS."""
    return ArchiveKeys([hmac.digest(key.value, _PURPOSE, "sha256") for key in keys.all])


def open_archive(path: Path, keys: SecretKeys) -> Archive:
    """Check an archive from end to end, and whether `keys` signed it.

    Raises `ArchiveRefused`, also if it was cut or its entries were changed.
    """
    return Archive(path, read_manifest(path, Manifest, FORMAT), is_signed(path, archive_keys(keys)))
