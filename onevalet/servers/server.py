"""The part that the embedded servers share: a lock on a folder, and the process that runs on it."""

import asyncio
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from core.errors import ConfigError
from onevalet.servers import paths
from onevalet.servers.child_process import Child, ServerUser
from onevalet.servers.lock import FileLock
from onevalet.servers.port import free_port

_LOCK_SECONDS = 20.0
_START_SECONDS = 60.0


class EmbeddedServer(ABC):
    """A server on a folder, on 127.0.0.1."""

    name: str
    end_signal: signal.Signals
    passing: tuple[str, ...] = ("Address already in use",)
    """Words in the log after which a short wait helps."""

    def __init__(self, home: Path) -> None:
        self._home = home.absolute()
        self._lock = FileLock(self._home / f"{self.name}.lock")
        self._child: Child | None = None
        self._port: int | None = None
        self._held_before = False
        """Whether this object held the lock when it was started: then no other process has used the data."""

    @property
    def running(self) -> bool:
        return self._child is not None and self._child.running

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child else None

    @property
    def exit_code(self) -> int | None:
        return self._child.exit_code if self._child else None

    async def start(self) -> None:
        """Start the server and wait until it answers; create its data first if there is none.

        Call it from the main thread. Called again after `stop` or a death, it keeps its port and its data.
        Raises ConfigError when it cannot start.
        """
        paths.make_home(self._home)
        if self._child:
            await self._child.stop()
        self._held_before = self._lock.held
        # Valkey by itself does not prevent two servers on the same folder.
        if not await self._lock.take(_LOCK_SECONDS):
            server = self.name.capitalize()
            raise ConfigError(f"Another process runs a {server} on {self._home}: stop it, or set ONEVALET_HOME.")
        try:
            await self._serve()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Shut the server down cleanly."""
        if self._child:
            await self._child.stop()
        self._lock.release()

    async def _launch(self, command: Callable[[], Sequence[str | Path]], user: ServerUser | None = None) -> None:
        """Start the process, again if a short wait helps, and wait until it answers. `command` has the arguments."""
        log = self._home / f"{self.name}.log"
        deadline = time.monotonic() + _START_SECONDS
        keep_port = self._port is not None
        while True:
            if not keep_port:
                self._port = free_port()
            child = self._child = Child(
                command(), log=log, end_signal=self.end_signal, user=user, kept_fds=[self._lock.fd]
            )
            child.start()
            if await self._answers(child, deadline):
                return
            last = child.last_words()
            if time.monotonic() > deadline or not any(sign in child.last_words(8) for sign in self.passing):
                raise ConfigError(f"{self.name.capitalize()} did not start; {log} ends in: {last}")
            await asyncio.sleep(0.2)

    @abstractmethod
    async def _serve(self) -> None: ...

    @abstractmethod
    async def _answers(self, child: Child, deadline: float) -> bool:
        """Wait until the server answers; return False when it ended or the time is up."""
