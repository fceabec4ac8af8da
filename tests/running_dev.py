"""A `dev` on a folder of its own, in a separate process, which is forked: to import all of it takes six seconds of CPU.

`tests/workbench/dev/test_start.py` and `tests/bin` start it as a newcomer does.
"""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.eventually import eventually_blocking
from tests.forker import Forker, plain_environment
from tests.patience import patience
from tests.ports import free_port

STARTS_WITHIN = 120.0


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
def running_dev(
    forker: Forker, home: Path, how: signal.Signals, settings: Mapping[str, str] | None = None
) -> Iterator[RunningDev]:
    """Run `dev` for the block; then end it by a signal, and check that it leaves nothing behind."""
    port = free_port(1)
    out, log = (home.parent / f"{home.name}.{kind}" for kind in ("out", "log"))
    out.unlink(missing_ok=True)
    # Tests that share a `dev` write faster than a person does.
    given = {"ONEVALET_RATE_PER_MINUTE": "100000"} | dict(settings or {})
    process = forker.fork(["dev"], dev_environment(home, port) | given, out, log)

    def shown() -> str:
        if process.returncode is not None:
            raise RuntimeError(f"dev ended: {out.read_text()!r} {log.read_text()}")
        return out.read_text() if "  simulator  " in out.read_text() else ""

    try:
        eventually_blocking(shown, "the simulator's address", within=STARTS_WITHIN)
        yield RunningDev(process.pid, home, port, out.read_text())
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(how)
        eventually_blocking(lambda: process.returncode is not None, "the end of dev")
        assert process.returncode == 0
        gone, alive = psutil.wait_procs(children, timeout=patience())
        assert not alive, alive
        assert len(gone) >= 2
    finally:
        process.send_signal(signal.SIGKILL)


def dev_environment(home: Path, port: int) -> dict[str, str]:
    """Return the environment of a newcomer, except for the folder and the port."""
    kept = {name: value for name, value in plain_environment().items() if name != "LANG"}
    return kept | {"ONEVALET_HOME": str(home), "PORT": str(port), "PYTHONUNBUFFERED": "1"}
