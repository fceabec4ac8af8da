"""ONEVALET_HOME: the lock of the process that works in it, and the addresses of a running `dev`."""

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from core.errors import ConfigError
from onevalet.servers import paths
from onevalet.servers.lock import FileLock, is_locked


@dataclass(frozen=True, slots=True)
class Running:
    """The addresses that a running `dev` publishes for other commands."""

    pid: int
    url: str
    """The gateway's address, such as http://127.0.0.1:8080."""
    simulator_url: str
    database_url: str
    redis_url: str
    owner_url: str = ""
    """The database's address for its owner; empty if the database is not embedded."""


class Home:
    """The folder, locked by this process."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def remember(self, running: Running) -> None:
        """Write the addresses for other commands. They hold passwords, so only the owner may read them."""
        fresh = self.path / "running.json.new"
        fresh.unlink(missing_ok=True)
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w") as file:
            json.dump(asdict(running), file)
        fresh.replace(self.path / "running.json")


@contextmanager
def own_folder(prefix: str) -> Iterator[Path]:
    """Yield a new folder, through which embedded servers reach their files, and remove it afterwards."""
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        folder = Path(name)
        if os.geteuid() == 0:
            folder.chmod(0o711)  # root's servers run as a user of their own
        yield folder


@contextmanager
def hold_home(path: Path) -> Iterator[Home]:
    """Create the folder if necessary and lock it; at the end remove the published addresses.

    Raise `ConfigError` when another process holds it, or when it cannot be written.
    """
    path = path.absolute()
    paths.make_home(path)
    lock = FileLock(path / "home.lock")
    try:
        taken = _take(lock)
    except PermissionError as error:
        raise ConfigError(f"The folder {path} belongs to another user: set ONEVALET_HOME to your own.") from error
    if not taken:
        raise ConfigError(_occupied(path))
    published = path / "running.json"
    published.unlink(missing_ok=True)  # left by a killed process
    try:
        yield Home(path)
    finally:
        published.unlink(missing_ok=True)
        lock.release()


def find_running(path: Path) -> Running | None:
    """Return the `dev` that runs on this folder now; None if there is none, even if a killed `dev` left its file."""
    published = path / "running.json"
    try:
        if not is_locked(path / "home.lock"):
            return None
        return Running(**json.loads(published.read_text()))
    except FileNotFoundError:
        return None  # it is starting
    except PermissionError as error:
        raise ConfigError(f"The folder {path} belongs to another user: run this command as that user.") from error


def is_starting(path: Path) -> bool:
    """Return whether a process holds this folder and has not published its addresses yet."""
    return is_locked(path / "home.lock") and not (path / "running.json").exists()


def _take(lock: FileLock) -> bool:
    # Several tries: a command that checks whether `dev` runs holds the lock for an instant.
    for _ in range(5):
        if lock.take_now():
            return True
        time.sleep(0.1)
    return False


def _occupied(path: Path) -> str:
    try:
        running = Running(**json.loads((path / "running.json").read_text()))
    except (OSError, ValueError, TypeError):
        return f"OneValet is already running on {path}: stop it first, or set ONEVALET_HOME to another folder."
    return (
        f"OneValet is already running on {path} (process {running.pid}, {running.url}): "
        "stop it first, or set ONEVALET_HOME and PORT to others."
    )
