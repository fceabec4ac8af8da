"""A lock on a folder. It ends with the processes that hold it, however they end."""

import asyncio
import fcntl
import os
import time
from pathlib import Path

_POLL_SECONDS = 0.05


class FileLock:
    """An exclusive flock on a file. A child that inherits `fd` holds it too, until the child ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    @property
    def held(self) -> bool:
        return self._fd is not None

    @property
    def fd(self) -> int:
        """Return the file descriptor to hand to a child; raise `ValueError` unless held."""
        if self._fd is None:
            raise ValueError("the lock is not held")
        return self._fd

    async def take(self, wait_seconds: float) -> bool:
        """Try to take the lock for `wait_seconds`; return False when another process keeps it."""
        deadline = time.monotonic() + wait_seconds
        while not self.take_now():
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    def take_now(self) -> bool:
        """Take the lock if it is free; return whether it is held now."""
        if self._fd is not None:
            return True
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        self._fd = fd
        return True

    def release(self) -> None:
        """Release the lock; a child that was handed the descriptor still holds it."""
        if self._fd is not None:
            os.close(self._fd)  # not LOCK_UN, which would release it for that child too
            self._fd = None


def is_locked(path: Path) -> bool:
    """Return whether any process holds the lock; the file need not exist."""
    if not path.exists():
        return False
    fd = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False
