"""The form of an archive: a zip of files, and a manifest that proves each of them. The manifest is written last."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, LargeZipFile, ZipFile, ZipInfo
from zlib import error as ZlibError

from pydantic import BaseModel, ConfigDict

from core.json_types import read_json
from operations.archives.signatures import ArchiveKeys

MANIFEST = "manifest.json"
SIGNATURE = "manifest.signature"
"""The entry with the signature of the manifest, which cannot name it."""
PIECE = 1024 * 1024
_MAX_MANIFEST = 64 * PIECE
_MAX_SIGNATURE = 1024


class ArchiveRefused(Exception):
    """An archive that is refused, and the reason in a sentence."""


class Entry(BaseModel):
    """A file of an archive. `columns` are those of a table's rows; `file` is the id or key of a person's file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    size: int
    sha256: str
    columns: tuple[str, ...] = ()
    file: str | None = None


class ManifestBase(BaseModel):
    """The head of every archive. `format` rises when an older version could not read it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    onevalet: str
    schema_version: int
    """The number of the newest migration at its origin."""
    entries: tuple[Entry, ...]


class ArchiveWriter:
    """Write a zip entry by entry; `take` returns the finished pieces, so that memory holds a single piece at most."""

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

    def close(self, manifest: ManifestBase, keys: ArchiveKeys | None = None) -> None:
        """Write the manifest, its signature by `keys`, and the zip's directory."""
        told = manifest.model_dump_json(indent=1, exclude_defaults=True).encode()
        self._write(MANIFEST, told)
        if keys is not None:
            self._write(SIGNATURE, keys.sign(told))
        self._zip.close()

    def _write(self, path: str, content: bytes) -> None:
        info = ZipInfo(path, self._time)
        info.compress_type = ZIP_DEFLATED
        self._zip.writestr(info, content)


class EntryWriter:
    """An entry that is being written, with its size and digest so far."""

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


def read_manifest[Told: ManifestBase](path: Path, told_as: type[Told], newest: int) -> Told:
    """Check an archive from end to end; return its manifest. Raises `ArchiveRefused`, also if it was cut or changed.

    `newest`: the newest format that this version reads.
    """
    try:
        with ZipFile(path) as packed:
            manifest = _manifest(packed, told_as, newest)
            names = sorted(packed.namelist())
            expected = [MANIFEST, *(entry.path for entry in manifest.entries)]
            if names not in (sorted(expected), sorted([*expected, SIGNATURE])):
                raise ArchiveRefused("The archive has other entries than its manifest names: it was changed.")
            for entry in manifest.entries:
                _check(packed, entry)
    except FileNotFoundError as error:
        raise ArchiveRefused(f"There is no file {path}.") from error
    except (BadZipFile, LargeZipFile, ZlibError, EOFError, KeyError, OSError, NotImplementedError, ValueError) as error:
        raise ArchiveRefused(
            "This file is not a whole archive of OneValet: it was cut off, or is another kind of file."
        ) from error
    return manifest


def is_signed(path: Path, keys: ArchiveKeys) -> bool:
    """Return whether any of these keys signed a checked archive."""
    with ZipFile(path) as packed:
        if SIGNATURE not in packed.namelist() or packed.getinfo(SIGNATURE).file_size > _MAX_SIGNATURE:
            return False
        try:
            return keys.verify(packed.read(MANIFEST), packed.read(SIGNATURE))
        except (BadZipFile, ZlibError, EOFError, NotImplementedError):
            return False


def _manifest[Told: ManifestBase](packed: ZipFile, told_as: type[Told], newest: int) -> Told:
    if packed.getinfo(MANIFEST).file_size > _MAX_MANIFEST:
        raise ArchiveRefused("The archive's manifest cannot be read: it was changed.")
    try:
        told = read_json(packed.read(MANIFEST))
        if isinstance(told, dict) and isinstance(made := told.get("format"), int) and made > newest:
            raise ArchiveRefused(
                "The archive is another kind, or made by a newer OneValet: then update this one first."
            )
        return told_as.model_validate(told)
    except ValueError as error:
        raise ArchiveRefused("The archive's manifest cannot be read: it was changed, or is another kind.") from error


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
    """A file that only grows at its end and is emptied as it grows, as a network connection is."""

    def __init__(self) -> None:
        self.made = bytearray()

    def write(self, data: bytes) -> int:
        self.made += data
        return len(data)

    def flush(self) -> None:
        """Do nothing: written bytes are available at once."""
