"""The stores of files' bytes: a folder, or a bucket (`providers.s3`)."""

import asyncio
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Protocol
from uuid import uuid4

_KEY = re.compile(r"[A-Za-z0-9_-]{1,80}(/[A-Za-z0-9_-]{1,120}){1,3}")
_PARTIAL = ".partial"
"""The folder of bytes that are not whole yet; no key begins with a dot."""
_ABANDONED = 3600.0
"""Seconds after which a partial file is abandoned."""


class BlobStore(Protocol):
    """Bytes by key. Raises `OSError` while the store cannot be reached."""

    async def put(self, key: str, data: bytes) -> None:
        """Store bytes: when this returns they are safe."""
        ...

    async def get(self, key: str) -> bytes | None:
        """Return the bytes; None if there are none."""
        ...

    async def delete(self, key: str) -> None:
        """Delete the bytes; missing bytes are no error."""
        ...

    async def sweep(self) -> None:
        """Delete the partial files of workers that died."""
        ...

    async def close(self) -> None: ...


def checked_key(key: str) -> str:
    """Return a key that we made, and refuse any other: keys become paths. Raises `ValueError`."""
    if not _KEY.fullmatch(key):
        raise ValueError("that is no key of a stored file")
    return key


class FolderStore:
    """Bytes in a folder, which all workers must share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, key: str, data: bytes) -> None:
        await asyncio.to_thread(self._put, self._folder / checked_key(key), data)

    async def get(self, key: str) -> bytes | None:
        return await asyncio.to_thread(self._get, self._folder / checked_key(key))

    async def delete(self, key: str) -> None:
        await asyncio.to_thread((self._folder / checked_key(key)).unlink, missing_ok=True)

    async def sweep(self) -> None:
        await asyncio.to_thread(self._sweep)

    async def close(self) -> None:
        pass

    def _put(self, path: Path, data: bytes) -> None:
        fresh = self._folder / _PARTIAL / uuid4().hex
        for folder in (path.parent, fresh.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with open(fresh, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
        flush_folder(path.parent)

    def _sweep(self) -> None:
        with suppress(FileNotFoundError):  # nothing was ever written, or another worker was quicker
            for path in (self._folder / _PARTIAL).iterdir():
                if path.stat().st_mtime < time.time() - _ABANDONED:
                    path.unlink()

    @staticmethod
    def _get(path: Path) -> bytes | None:
        with suppress(FileNotFoundError):
            return path.read_bytes()
        return None


def flush_folder(folder: Path) -> None:
    """Write a folder's names to the disk: a renamed file is not safe before."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
