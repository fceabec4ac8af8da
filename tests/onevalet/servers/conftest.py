"""A home for the embedded servers, and a process that holds them."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onevalet.servers.lock import is_locked
from tests.eventually import eventually_blocking

ROOT = Path(__file__).parents[3]
StartHolder = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def home() -> Iterator[Path]:
    """Yield a path for ONEVALET_HOME that does not exist yet, below a folder that every user can pass."""
    parent = Path(tempfile.mkdtemp(prefix="onevalet-home-"))
    parent.chmod(0o755)
    yield parent / "home"
    for name in ("postgres.lock", "valkey.lock"):  # held until the last server process has ended
        eventually_blocking(lambda name=name: not is_locked(parent / "home" / name), f"{name} let go")  # type: ignore[misc]
    shutil.rmtree(parent)


@pytest.fixture
def start_holder(home: Path) -> Iterator[StartHolder]:
    """Start processes that hold the servers of `home`; those still there are ended after the test."""
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.onevalet.servers.holder", str(home)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.terminate()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
