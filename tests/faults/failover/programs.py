"""Patroni and etcd: the one in an environment of its own, made once, the other Debian's."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from core.errors import ConfigError
from onevalet.servers.child_process import ServerUser
from onevalet.servers.paths import can_run

PACKAGES = ("patroni[etcd3]==4.1.5", "psycopg[binary]==3.3.9")
FOLDER = Path(os.environ.get("ONEVALET_PATRONI") or "/var/cache/onevalet-patroni")
"""Not below a home, which the servers' user may not enter."""
_PYTHONS = (Path(sys.executable).resolve(), Path("/usr/bin/python3"))


def etcd() -> Path:
    """Return the program; raise `ConfigError` where it is missing."""
    found = shutil.which("etcd")
    if found is None:
        raise ConfigError("etcd is missing: apt-get install etcd-server.")
    return Path(found)


def patroni(user: ServerUser | None) -> list[str | Path]:
    """Return the command of Patroni, which is installed first if it is missing."""
    python, done = FOLDER / "bin" / "python", FOLDER / "done"
    wanted = "\n".join(PACKAGES)
    if not done.exists() or done.read_text() != wanted:
        base = next((python for python in _PYTHONS if can_run(python, user)), None)
        if base is None:
            raise ConfigError("No Python can be run by the servers' user: install Debian's python3.")
        _run(["uv", "venv", "--quiet", "--clear", "--python", str(base), str(FOLDER)])
        _run(["uv", "pip", "install", "--quiet", "--python", str(python), *PACKAGES])
        done.write_text(wanted)
    return [python, "-m", "patroni"]


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, umask=0o022)
