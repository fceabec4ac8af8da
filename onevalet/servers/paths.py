"""Folders for a server's data and programs that the server's own user can reach.

No folder of another user is opened up for that: files below a private folder are stored elsewhere instead.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from core.errors import ConfigError
from onevalet.servers.child_process import ServerUser, server_environment

SYSTEM_FOLDER = Path("/var/lib/onevalet")


def make_home(home: Path) -> None:
    """Create ONEVALET_HOME if it is missing: private, but for root passable for the servers' own user."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o711 if os.geteuid() == 0 else 0o700)
    except OSError as error:
        raise ConfigError(
            f"The folder {home} cannot be created ({error.strerror}): set ONEVALET_HOME to one that you own."
        ) from error
    if not os.access(home, os.W_OK | os.X_OK):
        raise ConfigError(f"The folder {home} is not yours to write: set ONEVALET_HOME to one that you own.")


def data_folder(home: Path, name: str, user: ServerUser | None) -> Path:
    """Return the path for a server's data, which need not exist yet.

    It is `home/name`, or a system folder linked from there if `user` cannot reach that.
    """
    link = home / name
    if user is None or (link.exists() and not link.is_symlink()):
        return link
    if link.is_symlink() and link.exists():
        return link.resolve()
    if not link.is_symlink() and can_enter(home, user):
        return link
    digest = hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:16]
    target = _system_folder() / digest / name
    _make_passable(target.parent)
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    return target


def can_enter(folder: Path, user: ServerUser) -> bool:
    """Return whether the user can reach the folder through all its parents."""
    return _succeeds(["/bin/sh", "-c", 'cd -- "$1"', "sh", str(folder.resolve())], user)


def can_run(program: Path, user: ServerUser | None) -> bool:
    """Return whether the program starts for the user, with its libraries."""
    return _succeeds([str(program), "--version"], user)


def copy_programs(folders: list[Path], name: str) -> Path:
    """Copy sibling folders to the system's folder, once; return the folder that holds the copies."""
    final = _system_folder() / "programs" / name
    if final.is_dir():
        return final
    _make_passable(final.parent)
    fresh = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=final.parent))
    for folder in folders:
        shutil.copytree(folder, fresh / folder.name, symlinks=True)
    for path in (fresh, *fresh.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
    try:
        fresh.rename(final)
    except OSError:
        shutil.rmtree(fresh)
        if not final.is_dir():
            raise
    return final


def _succeeds(command: list[str], user: ServerUser | None) -> bool:
    try:
        done = subprocess.run(  # noqa: S603 - commands of this module
            command,
            check=False,
            cwd="/",
            env=server_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            user=user.uid if user else None,
            group=user.gid if user else None,
            extra_groups=[] if user else None,
        )
    except OSError:
        return False
    return done.returncode == 0


def _system_folder() -> Path:
    try:
        _make_passable(SYSTEM_FOLDER)
    except OSError as error:
        raise ConfigError(
            f"Postgres cannot run as root, and {SYSTEM_FOLDER} cannot be made for its own user "
            f"({error.strerror}): set DATABASE_URL, or run as an ordinary user."
        ) from error
    return SYSTEM_FOLDER


def _make_passable(folder: Path) -> None:
    # Only folders that are created here get a mode; existing parents keep theirs.
    if folder.is_dir():
        return
    if folder != SYSTEM_FOLDER:
        _make_passable(folder.parent)
    folder.mkdir(exist_ok=True)
    folder.chmod(0o711)
