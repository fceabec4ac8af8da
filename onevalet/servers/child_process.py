"""A server as a direct child process: its user, its log, its end."""

import asyncio
import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.children.child_environment import child_environment
from core.errors import ConfigError

_LAUNCH = Path(__file__).with_name("exec_server.py")
_LOG_LIMIT = 5_000_000
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class ServerUser:
    """The user that a server runs as, if not this process's own."""

    uid: int
    gid: int


def server_environment() -> dict[str, str]:
    """Return the environment for a server, without our settings and keys, which other users could read there."""
    return child_environment(PATH="/usr/local/bin:/usr/bin:/bin", LC_ALL="C", TZ="UTC")


def unprivileged_user() -> ServerUser | None:
    """Return the user for a server that refuses root: `nobody` if this process is root, else None (its own user)."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError as error:
        raise ConfigError(
            "Postgres does not run as root and this machine has no user `nobody`: "
            "set DATABASE_URL, or run as an ordinary user."
        ) from error
    return ServerUser(entry.pw_uid, entry.pw_gid)


class Child:
    """A server process that ends with this process.

    Start it from the main thread: Linux sends the death signal when the thread that started the child ends.
    The child has a session of its own, so that Ctrl-C does not reach it and servers end in our order.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        log: Path,
        end_signal: signal.Signals,
        user: ServerUser | None = None,
        kept_fds: Sequence[int] = (),
    ) -> None:
        """`end_signal` makes it shut down cleanly; it is sent at `stop` and when the parent dies."""
        self._command = [str(word) for word in command]
        self._log = log
        self._end_signal = end_signal
        self._user = user
        self._kept_fds = tuple(kept_fds)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def exit_code(self) -> int | None:
        return self._process.poll() if self._process else None

    def start(self) -> None:
        user = (str(self._user.uid), str(self._user.gid)) if self._user else ("-", "-")
        head = [sys.executable, "-I", "-S", str(_LAUNCH), str(os.getpid()), str(int(self._end_signal)), *user]
        log = _open_log(self._log)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own launcher
                head + self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=server_environment(),
                start_new_session=True,
                pass_fds=self._kept_fds,
            )
        finally:
            os.close(log)

    async def stop(self, grace_seconds: float = 15.0) -> None:
        """Ask the process to end, kill it after the grace time, and reap it."""
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(self._end_signal)
        deadline = time.monotonic() + grace_seconds
        while process.poll() is None:
            if time.monotonic() > deadline:
                process.kill()
            await asyncio.sleep(_POLL_SECONDS)

    def last_words(self, lines: int = 4) -> str:
        """Return the end of the log on a single line, for an error message."""
        if not self._log.exists():
            return ""
        with self._log.open("rb") as file:
            file.seek(max(0, self._log.stat().st_size - 4000))
            tail = file.read().decode(errors="replace").splitlines()
        return " | ".join(line.strip() for line in tail[-lines:])


def _open_log(path: Path) -> int:
    if path.exists() and path.stat().st_size > _LOG_LIMIT:
        path.replace(path.with_name(path.name + ".1"))
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
