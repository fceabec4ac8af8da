"""Archives as a person may change them before they are imported."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from zipfile import ZipFile

from core.json_types import JsonObject
from operations.archives.zips import MANIFEST, SIGNATURE

type Contents = dict[str, bytes]
type Change = Callable[[Contents], None]


def rewritten(path: Path, change: Change) -> Path:
    """Write an archive again with other contents."""
    with ZipFile(path) as packed:
        contents = {name: packed.read(name) for name in packed.namelist()}
    change(contents)
    changed = path.with_name("changed.zip")
    with ZipFile(changed, "w") as packed:
        for name, content in contents.items():
            packed.writestr(name, content)
    return changed


def manifest_with(**values: object) -> Change:
    """Return a change of the manifest's own values."""

    def change(contents: Contents) -> None:
        contents[MANIFEST] = json.dumps(json.loads(contents[MANIFEST]) | values).encode()

    return change


def without_signature(contents: Contents) -> None:
    """Make an archive as it was before there were signatures."""
    del contents[SIGNATURE]
    manifest_with(format=1)(contents)


def rows_of(contents: Contents, table: str) -> list[JsonObject]:
    """Return the rows of a table."""
    rows: list[JsonObject] = json.loads(contents[f"tables/{table}.json"])
    return rows


def keep(contents: Contents, table: str, rows: Sequence[JsonObject]) -> None:
    """Put rows in a table, and make the manifest anew as anybody can."""
    path, told = f"tables/{table}.json", json.loads(contents[MANIFEST])
    contents[path] = b"[\n" + b",\n".join(json.dumps(row).encode() for row in rows) + b"\n]\n"
    for entry in told["entries"]:
        if entry["path"] == path:
            entry |= {"size": len(contents[path]), "sha256": hashlib.sha256(contents[path]).hexdigest()}
    contents[MANIFEST] = json.dumps(told).encode()
