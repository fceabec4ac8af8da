"""Processes of `mcp_script` in milliseconds: one process has loaded MCP's SDK, and forks the others.

python -m tests.servers.mcp_forks SOCKET           waits at a socket
python -S -E tests/servers/mcp_launch.py SOCKET …  is what a client starts: it hands over its pipes and lives as long
"""

import ctypes
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

import pytest

from tests.eventually import eventually_blocking

ROOT = Path(__file__).parents[2]
LAUNCHER = Path(__file__).with_name("mcp_launch.py")
_PR_SET_PDEATHSIG = 1
_MOST = 1 << 20
"""Bytes of a request: the words of the command, and its environment."""


class _Asked(TypedDict):
    words: list[str]
    environment: dict[str, str]


@pytest.fixture(scope="session")
def mcp_forks() -> Iterator[tuple[str, ...]]:
    """Yield the command that stands for `python -m tests.servers.mcp_script`, for all tests of a worker."""
    with tempfile.TemporaryDirectory(prefix="onevalet-mcp-") as folder:
        place = Path(folder) / "forks"
        process = subprocess.Popen([sys.executable, "-m", "tests.servers.mcp_forks", str(place)], cwd=ROOT)
        try:
            eventually_blocking(place.exists, "the socket of the process that forks MCP servers")
            yield (sys.executable, "-S", "-E", str(LAUNCHER), str(place))
        finally:
            process.kill()
            process.wait()


def main(place: Path) -> None:
    """Fork a server for each launcher that comes, and end it with its launcher."""
    import uvicorn  # noqa: F401 - it is loaded for all of them

    from tests.servers import mcp_script

    listening = socket.socket(socket.AF_UNIX)
    listening.bind(f"{place}.new")
    listening.listen()
    os.rename(f"{place}.new", place)
    waiting = selectors.DefaultSelector()
    waiting.register(listening, selectors.EVENT_READ)
    while True:
        for key, _ in waiting.select():
            if key.fileobj is listening:
                _start(listening, waiting, mcp_script.main)
            else:
                _end(key, waiting)


def _start(listening: socket.socket, waiting: selectors.BaseSelector, run: Callable[[], None]) -> None:
    launcher, _ = listening.accept()
    data, pipes, _, _ = socket.recv_fds(launcher, _MOST, 3)
    pid = os.fork()
    if pid == 0:
        listening.close()
        _become(json.loads(data), pipes, run)
    for pipe in pipes:
        os.close(pipe)
    ended = os.pidfd_open(pid)
    waiting.register(launcher, selectors.EVENT_READ, (pid, ended, launcher))
    waiting.register(ended, selectors.EVENT_READ, (pid, ended, launcher))


def _become(asked: _Asked, pipes: list[int], run: Callable[[], None]) -> None:
    """Run the script on the launcher's pipes, and end."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for number, pipe in enumerate(pipes):
            os.dup2(pipe, number)
        os.environ.clear()
        os.environ.update(asked["environment"])
        sys.argv = ["mcp_script", *asked["words"]]
        run()
        code = 0
    finally:
        os._exit(code)


def _end(key: selectors.SelectorKey, waiting: selectors.BaseSelector) -> None:
    """End a server with its launcher, or tell the launcher how the server ended."""
    pid, ended, launcher = key.data
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    with suppress(OSError):
        launcher.sendall(bytes([os.waitstatus_to_exitcode(status) & 0xFF]))
    for one in (launcher, ended):
        waiting.unregister(one)
    launcher.close()
    os.close(ended)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
