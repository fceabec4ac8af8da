"""Our processes in milliseconds: one process imports everything, and each new one is forked from it.

A forked process is as real as any: memory, sockets, signals and death are its own. What imports cost is tested by
`tests/test_import_cost.py`.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import psutil

from tests.loopback.plugin import watched_environment
from tests.patience import patience

ROOT = Path(__file__).parents[1]
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""Each process of a run would have as many threads for its vectors as there are cores, which wait for each other."""


@dataclass(slots=True)
class Forked:
    """A forked process, with the interface of asyncio's."""

    pid: int
    forker: "Forker"
    code: int | None = None

    @property
    def returncode(self) -> int | None:
        """Return the exit code, the negative signal that killed it, or None while it runs."""
        if self.code is None:
            self.code = self.forker.ask_end(self.pid)
        return self.code

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal unless the process has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    async def wait(self) -> int:
        """Wait until the process has ended and return its `returncode`."""
        if self.returncode is None:
            ended = asyncio.Event()
            loop = asyncio.get_running_loop()
            handle = os.pidfd_open(self.pid)
            loop.add_reader(handle, ended.set)
            try:
                await ended.wait()
            finally:
                loop.remove_reader(handle)
                os.close(handle)
        code = self.returncode
        assert code is not None
        return code


@dataclass(slots=True)
class Forker:
    """The process that forks the others, of the code in `root`. Its children end when it ends."""

    root: Path = ROOT
    process: subprocess.Popen[bytes] | None = None
    children: list[Forked] = field(default_factory=list)
    _ready: bool = False

    def __enter__(self) -> Self:
        """Start importing; the first fork waits until that is done."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.forker_process"],
            cwd=self.root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=plain_environment() | _ONE_THREAD,
        )
        return self

    def __exit__(self, *_: object) -> None:
        """End the forker and its children."""
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(patience())
        assert self.process.stdout is not None
        self.process.stdout.close()

    async def ready(self) -> None:
        """Wait until everything is imported."""
        await asyncio.to_thread(self._get_ready)

    def fork(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        out: Path,
        errors: Path | None = None,
        stdin: Path | None = None,
        module: str = "onevalet.cli.main",
        host: str = "",
    ) -> Forked:
        """Run `python -m onevalet WORDS` (or `main` of another module) in a new process, from the project's folder.

        Its output is appended to `out` and `errors`, which may be one file; its input is `stdin`, or nothing.
        `host`: the name of one of `tests.namespaces` to run on.
        """
        self._get_ready()
        order = {
            "words": [*words],
            "environment": dict(environment),
            "files": [str(stdin or os.devnull), str(out), str(errors or out)],
            "module": module,
            "host": host,
        }
        child = Forked(int(self._order(order)["pid"]), self)
        self.children.append(child)
        return child

    def end_since(self, count: int) -> None:
        """Kill those that were forked after the first `count`, with all that they started."""
        for child in self.children[count:]:
            if child.returncode is None:
                with suppress(psutil.NoSuchProcess):
                    family = psutil.Process(child.pid).children(recursive=True)
                    child.send_signal(signal.SIGKILL)
                    for one in family:
                        one.kill()

    def ask_end(self, pid: int) -> int | None:
        """Return a child's exit code, None while it runs."""
        answer = self._order({"ended": pid})
        return None if answer["code"] is None else int(answer["code"])

    def _get_ready(self) -> None:
        if not self._ready:
            assert self._read() == {"ready": True}
            self._ready = True

    def _order(self, order: object) -> dict[str, int]:
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, int]:
        assert self.process is not None
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the forker could not import everything: its error output says why"
        answer: dict[str, int] = json.loads(line)
        return answer


def plain_environment() -> dict[str, str]:
    """Return the part of this environment that a process needs, without any of our settings."""
    own = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return own | watched_environment()
