"""One process of ours, which may be killed and begun again."""

import asyncio
import os
import random
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.eventually import eventually
from tests.forker import ROOT, Forked, Forker

WORDS = {"web": ["web"], "worker": ["worker", "--no-spare"], "kept": ["worker"]}
"""A killed worker stays dead until the test starts it again, or has a supervisor, as it is shipped."""
_WORKED = ("turn_finished", "part_sent")
WORK_DONE = {"web": ("message_received",), "worker": _WORKED, "kept": _WORKED}
"""The log lines that show that a process has done work."""


@dataclass(slots=True)
class Member:
    """One process of ours; it may be killed, and begun again with the same name and port."""

    folder: Path
    forker: Forker
    name: str
    command: str
    environment: dict[str, str]
    process: Forked | asyncio.subprocess.Process | None = None
    lives: int = 0
    done: int = 0
    """How much work its log showed when it was begun."""

    @property
    def log(self) -> Path:
        """Return where it writes."""
        return self.folder / f"{self.name}.log"

    @property
    def url(self) -> str:
        """Return the address of a web process."""
        return f"http://127.0.0.1:{self.environment['PORT']}"

    def start(self, **changed: str) -> None:
        """Begin."""
        self.lives += 1
        self.done = self.work()
        environment = self.environment | changed
        self.process = self.forker.fork(WORDS[self.command], environment, self.log, module="tests.faults.crashing")

    async def start_alone(self) -> None:
        """Begin as a whole new interpreter, for what must be in its environment from the start."""
        self.done = self.work()
        log = os.open(self.log, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        try:
            command = (sys.executable, "-m", "tests.faults.crashing", *WORDS[self.command])
            self.process = await asyncio.create_subprocess_exec(
                *command, cwd=ROOT, env=self.environment, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log
            )
        finally:
            os.close(log)

    def work(self) -> int:
        """Count the work that its log shows, over all its lives."""
        if not self.log.exists():
            return 0
        text = self.log.read_text(errors="replace")
        return sum(text.count(word) for word in WORK_DONE[self.command])

    @property
    def processes(self) -> list[int]:
        """Return the processes that do its work: itself, or those that its supervisor has begun."""
        if self.process is None or self.process.returncode is not None:
            return []
        if self.command != "kept":
            return [self.process.pid]
        return [child.pid for child in psutil.Process(self.process.pid).children()]

    def show_waits(self) -> None:
        """Let its log say what it waits for."""
        for pid in self.processes:
            os.kill(pid, signal.SIGUSR1)

    async def kill(self, chance: random.Random) -> None:
        """SIGKILL it and begin it again after a moment, as a supervisor would.

        Of a kept one: one of its processes, which its supervisor sees to, or all at once together with the supervisor.
        """
        assert self.process is not None
        pids = self.processes
        if self.command == "kept" and pids and (victim := chance.choice([0, *pids])):
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
            await eventually(lambda: victim not in self.processes, f"the end of {self.name}'s process")
            self.done = self.work()
            return
        for pid in {self.process.pid, *pids}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.wait_for(self.process.wait(), 45)
        await asyncio.sleep(chance.random() * 0.5)
        self.start()

    @property
    def has_worked(self) -> bool:
        """Return whether it has done work in this life."""
        return self.work() > self.done

    async def kill_for_good(self) -> None:
        """SIGKILL it, if it was begun, and leave it dead."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            await self.process.wait()

    async def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it, and give how it ended."""
        assert self.process is not None
        self.process.send_signal(how)
        try:
            return await asyncio.wait_for(self.process.wait(), 45)
        except TimeoutError:
            self.show_waits()
            await asyncio.sleep(0.5)
            raise
