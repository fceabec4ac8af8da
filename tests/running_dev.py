"""A `dev` as a newcomer runs it, in a separate process."""

import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.forker import ROOT, plain_environment
from tests.patience import patience


@dataclass(frozen=True, slots=True)
class RunningDev:
    """The folder and port of a `dev`; `environment` makes other commands find it."""

    pid: int
    home: Path
    port: int
    shown: str = ""

    @property
    def url(self) -> str:
        """Return the gateway's address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def simulator_url(self) -> str:
        """Return the simulator's address."""
        return f"http://127.0.0.1:{self.port + 1}"

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a command next to it."""
        return dev_environment(self.home, self.port)


@contextmanager
def running_dev(home: Path, how: signal.Signals, settings: Mapping[str, str] | None = None) -> Iterator[RunningDev]:
    """Run `dev` for the block; then end it by a signal, and check that it leaves nothing behind."""
    port = two_free_ports()
    log = home.parent / f"{home.name}.log"
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "onevalet", "dev"],
            cwd=ROOT,
            env=dev_environment(home, port) | dict(settings or {}),
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    try:
        assert process.stdout is not None
        shown = b""
        while b"  simulator  " not in shown:
            line = process.stdout.readline()
            assert line, f"dev ended: {shown!r} {log.read_text()}"
            shown += line
        yield RunningDev(process.pid, home, port, shown.decode())
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(how)
        process.stdout.read()
        assert process.wait(patience()) == 0
        gone, alive = psutil.wait_procs(children, timeout=patience())
        assert not alive, alive
        assert len(gone) >= 2
    finally:
        process.kill()
        process.communicate()


def dev_environment(home: Path, port: int) -> dict[str, str]:
    """Return the environment of a newcomer, except for the folder and the port."""
    kept = {name: value for name, value in plain_environment().items() if name != "LANG"}
    return kept | {"ONEVALET_HOME": str(home), "PORT": str(port), "PYTHONUNBUFFERED": "1"}


def two_free_ports() -> int:
    """Find a port that is free together with the next one."""
    # Below the range from which the system takes ports for clients, so that none is taken meanwhile.
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
