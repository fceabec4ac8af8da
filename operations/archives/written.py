"""Files that are written completely or not at all, and that only their owner can read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from core.files.blobs import flush_folder

PARTIAL = ".partial"
"""The ending of an unfinished file's name; it begins with a dot."""


@contextmanager
def written(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new file; it gets its name, and is safe on the disk, once the block ends well. Raises `OSError`."""
    partial = path.with_name(f".{path.name}{PARTIAL}")
    try:
        with open(partial, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.link(partial, path)  # never over an existing file
        flush_folder(path.parent)
    finally:
        partial.unlink(missing_ok=True)
