"""Checkouts whose processes are measured: this one, and an earlier commit's with its own environment."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from workbench.benchmarks.peers.environments import FOLDER
from workbench.benchmarks.report.results import ROOT

COMPILING = {"PYTHONDONTWRITEBYTECODE": ""}
"""Variables that let Python keep compiled files."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder with the product, and the interpreter that runs it."""

    folder: Path
    python: Path

    @property
    def is_this(self) -> bool:
        """Return whether it is the one that measures."""
        return self.folder == ROOT

    def compile(self) -> None:
        """Compile changed files, with the packages in the folder, as an image does beforehand."""
        _run(str(self.python), "-m", "compileall", "-qq", str(self.folder), check=False)  # templates are no Python


HERE = Checkout(ROOT, Path(sys.executable))


def earlier(commit: str) -> Checkout:
    """Return a clone at an earlier commit with its packages, which is made in the peers' folder at the first run."""
    folder = FOLDER / commit
    made = Checkout(folder, folder / ".venv" / "bin" / "python")
    done = folder / "done"
    if not done.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not folder.exists():
            _run("git", "clone", "--quiet", "--no-checkout", str(ROOT), str(folder))
        _run("git", "-C", str(folder), "checkout", "--quiet", commit)
        _run("uv", "sync", "--quiet", "--directory", str(folder))
        done.touch()
    return made


def _run(*command: str, check: bool = True) -> None:
    subprocess.run(command, check=check, env=os.environ | COMPILING)  # noqa: S603
