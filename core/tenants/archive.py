"""The form of an archive: a zip of a person's tables as JSON, their files, and a manifest that proves each entry.

A table is one JSON array with a row on each line, so that it is read a line at a time. The manifest is written last.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, LargeZipFile, ZipFile, ZipInfo

from pydantic import BaseModel, ConfigDict, ValidationError

FORMAT = 1
MANIFEST = "manifest.json"
PIECE = 1024 * 1024
_MAX_MANIFEST = 64 * PIECE
_BROKEN = "This file is no whole archive of OneValet: it was cut, or is something else."


class ArchiveRefused(Exception):
    """An archive that is not taken in, and why in one sentence."""


class Entry(BaseModel):
    """One file of an archive. `columns` are those of a table's rows; `file` is the id of a person's file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    size: int
    sha256: str
    columns: tuple[str, ...] = ()
    file: str | None = None


class Manifest(BaseModel):
    """What an archive says of itself. `schema_version` is the number of the newest migration where it was made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    onevalet: str
    schema_version: int
    person: str
    exported_at: datetime
    entries: tuple[Entry, ...]


def table_path(table: str) -> str:
    return f"tables/{table}.json"


class ArchiveWriter:
    """Write a zip entry by entry; `take` returns what is ready, so that no more than a piece lies in memory."""

    def __init__(self, now: datetime) -> None:
        self._sink = _Sink()
        self._zip = ZipFile(self._sink, "w")  # type: ignore[call-overload]
        self._time = (max(now.year, 1980), now.month, now.day, now.hour, now.minute, now.second)
        self.entries: list[Entry] = []

    @contextmanager
    def entry(self, path: str, *, packed: bool = True) -> Iterator["EntryWriter"]:
        """Open the next entry; it is in the manifest once the block ends. `packed`: compress it."""
        info = ZipInfo(path, self._time)
        info.compress_type = ZIP_DEFLATED if packed else ZIP_STORED
        with self._zip.open(info, "w", force_zip64=True) as out:
            writer = EntryWriter(out)
            yield writer
        self.entries.append(
            Entry(
                path=path,
                size=writer.size,
                sha256=writer.digest.hexdigest(),
                columns=writer.columns,
                file=writer.file,
            )
        )

    def take(self) -> bytes:
        """Return the bytes that were made since the last call."""
        made = bytes(self._sink.made)
        self._sink.made.clear()
        return made

    def close(self, manifest: Manifest) -> None:
        """Write the manifest and the zip's directory."""
        info = ZipInfo(MANIFEST, self._time)
        info.compress_type = ZIP_DEFLATED
        self._zip.writestr(info, manifest.model_dump_json(indent=1, exclude_defaults=True))
        self._zip.close()


class EntryWriter:
    """One entry that is being written, with its size and digest so far."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self.digest = hashlib.sha256()
        self.size = 0
        self.columns: tuple[str, ...] = ()
        self.file: str | None = None

    def write(self, data: bytes) -> None:
        self._out.write(data)
        self.digest.update(data)
        self.size += len(data)


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
    try:
        with ZipFile(path) as packed:
            manifest = _manifest(packed)
            names = packed.namelist()
            if sorted(names) != sorted([MANIFEST, *(entry.path for entry in manifest.entries)]):
                raise ArchiveRefused("The archive has other entries than its manifest names: it was changed.")
            for entry in manifest.entries:
                _check(packed, entry)
    except FileNotFoundError as error:
        raise ArchiveRefused(f"There is no file {path}.") from error
    except (BadZipFile, LargeZipFile, EOFError, KeyError, OSError, NotImplementedError, ValueError) as error:
        raise ArchiveRefused(_BROKEN) from error
    return Archive(path, manifest)


def _manifest(packed: ZipFile) -> Manifest:
    if packed.getinfo(MANIFEST).file_size > _MAX_MANIFEST:
        raise ArchiveRefused(_BROKEN)
    try:
        told = json.loads(packed.read(MANIFEST))
        if isinstance(told, dict) and isinstance(made := told.get("format"), int) and made > FORMAT:
            raise ArchiveRefused("The archive was made by a newer OneValet: update this one first.")
        return Manifest.model_validate(told)
    except ValidationError as error:
        raise ArchiveRefused("The archive's manifest cannot be read: it was changed.") from error


def _check(packed: ZipFile, entry: Entry) -> None:
    digest, size = hashlib.sha256(), 0
    with packed.open(entry.path) as content:
        while piece := content.read(PIECE):
            digest.update(piece)
            size += len(piece)
            if size > entry.size:  # a bomb is not unpacked to its end
                break
    if (size, digest.hexdigest()) != (entry.size, entry.sha256):
        raise ArchiveRefused(f"{entry.path} of the archive is not what was exported: it was changed.")


class _Sink:
    """A file that only grows at its end and is emptied meanwhile, as a network connection is."""

    def __init__(self) -> None:
        self.made = bytearray()

    def write(self, data: bytes) -> int:
        self.made += data
        return len(data)

    def flush(self) -> None:
        """Do nothing: what is written is there."""
