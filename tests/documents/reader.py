"""A reader with a clone: they write a page's files into it, and type its commands."""

import asyncio
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.forker import plain_environment
from tests.shipping.harness import ROOT, SHIPPED

_CLONED = (*SHIPPED, "workbench", "bin", "docs", "deploy", ".env.example")
_UV = f"""#!/bin/sh
# Stands in for uv, which would look into the packages' index: it runs modules with the packages of the tests.
[ "$1" = --version ] && echo "uv 0.99.0" && exit
shift
while [ $# -gt 0 ]; do
    case $1 in --no-dev | --all-extras) shift ;; --group) shift 2 ;; *) break ;; esac
done
[ "$1" = -m ] || set -- -m "$@"
exec {shlex.quote(sys.executable)} "$@"
"""


@dataclass(frozen=True, slots=True)
class Reader:
    """A clone without the project's own tests, in a folder of its own, and the settings of whoever reads."""

    folder: Path
    environment: Mapping[str, str]

    async def type(self, command: str) -> str:
        """Type a command in the clone, and return what it prints; raise `AssertionError` with that where it fails."""
        process = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-euc", command),
            cwd=self.folder,
            env=dict(self.environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed, _ = await process.communicate()
        assert process.returncode == 0, f"{command}\n{printed.decode()[-6000:]}"
        return printed.decode()


def make_reader(folder: Path, settings: Mapping[str, str]) -> Reader:
    """Return a reader with a clone in an empty folder."""
    clone, programs = folder / "clone", folder / "programs"
    (clone / "tests").mkdir(parents=True)
    for name in _CLONED:
        (clone / name).symlink_to(ROOT / name)
    programs.mkdir()
    (programs / "uv").write_text(_UV)
    (programs / "uv").chmod(0o755)
    path = os.pathsep.join([str(programs), "/usr/local/bin", "/usr/bin", "/bin"])
    own = {"PATH": path, "HOME": str(folder), "UV_PYTHON": sys.executable}  # the uv above finds and installs no Python
    return Reader(clone, {**plain_environment(), **settings, **own})
