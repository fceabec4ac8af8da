"""The part that the embedded servers share: a lock on a folder, and the process that runs on it."""

from abc import ABC, abstractmethod
from pathlib import Path

from core.errors import ConfigError
from onevalet.dev.embedded import paths
from onevalet.dev.embedded.child_process import Child
from onevalet.dev.embedded.lock import FileLock

_LOCK_SECONDS = 20.0


class EmbeddedServer(ABC):
    """One server on one folder, on 127.0.0.1."""

    name: str

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
        # Valkey by itself does not prevent two servers on one folder.
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

    @abstractmethod
    async def _serve(self) -> None: ...
