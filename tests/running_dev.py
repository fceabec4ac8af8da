"""A `dev` as a newcomer runs it, in a separate process."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.forker import ROOT, plain_environment
from tests.patience import patience
from tests.ports import free_port


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
    port = free_port(1)
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
