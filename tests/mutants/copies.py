"""A copy of the tree in which mutants are written, and the pytest that runs there."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Self

from tests.mutants.operators import Mutant
from tests.mutants.trying import Answer, Order
from tests.shipping.harness import ROOT, tracked_files

_PYTEST = (".venv/bin/python", "-m", "pytest", "-n0", "-q", "-p", "no:cacheprovider", "-p", "tests.mutants.trying")
_EVERY_TIER = ("-m", "slow or not slow")


class NoTestsError(Exception):
    """The tests could not even be collected."""


class Copy:
    """One copy of the tree."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._written = 0
        for path in tracked_files():
            target = folder / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
        # Tests ask git for the project's files.
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
        (folder / ".venv").symlink_to(ROOT / ".venv")

    @contextmanager
    def holding(self, mutant: Mutant) -> Iterator[None]:
        """Have the mutant in the file for the block."""
        path = self.folder / mutant.path
        before, status = path.read_bytes(), path.stat()
        self._written += 1
        path.write_bytes(mutant.source.encode())
        # Python tells compiled files by size and second; no two mutants have the same second.
        later = time.time() + self._written * 10
        os.utime(path, (later, later))
        try:
            yield
        finally:
            path.write_bytes(before)
            os.utime(path, (status.st_atime, status.st_mtime))


class Pytest:
    """A pytest in a copy which has collected some files and waits for orders."""

    def __init__(self, copy: Copy, files: Sequence[str]) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [*_PYTEST, *_EVERY_TIER, "--wire", str(theirs.fileno()), *files],
                cwd=copy.folder,
                env={name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        self._wire = ours
        self._lines: IO[str] = ours.makefile("rw")
        first = self._lines.readline()
        if not first:
            said, _ = self._process.communicate()
            self.close()
            raise NoTestsError(said[-2000:])
        hello = json.loads(first)
        self.tests = frozenset(hello["tests"])
        if hello["core"] != str(copy.folder / "core"):
            raise AssertionError(f"the tests import {hello['core']} in place of the copy")

    def run(self, order: Order) -> Answer:
        """Run an order and wait for its answer."""
        self._lines.write(json.dumps(asdict(order)) + "\n")
        self._lines.flush()
        if not (line := self._lines.readline()):
            raise RuntimeError(f"the pytest of the copy ended: {self._process.communicate()[0][-3000:]}")
        return Answer(**json.loads(line))

    def close(self) -> None:
        """End it, with its servers."""
        self._lines.close()
        self._wire.close()
        self._process.communicate(timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def copied() -> Iterator[Copy]:
    """Yield a copy of the tree, deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="onevalet-mutants-") as folder:
        yield Copy(Path(folder))


def files_of(tests: Iterable[str]) -> list[str]:
    """Return the files of tests by their names."""
    return sorted({name.partition("::")[0] for name in tests})
