"""The embedded Postgres and Valkey on a host of `tests.namespaces`, at its address and for its whole network."""

from collections.abc import Callable, Sequence
from pathlib import Path

from onevalet.servers.child_process import ServerUser
from onevalet.servers.postgres import Postgres
from onevalet.servers.valkey import Valkey
from tests.namespaces import Host

_LOOPBACK = "127.0.0.1"
type Command = Callable[[], Sequence[str | Path]]


class HostedPostgres(Postgres):
    """A Postgres that is reached at its host's address."""

    def __init__(self, home: Path, host: Host) -> None:
        """Everybody on the host's network may log in."""
        super().__init__(home)
        self._host = host
        self._settings |= {"listen_addresses": host.address}

    def _initdb(self, data: Path, user: ServerUser | None, programs: Path) -> None:
        super()._initdb(data, user, programs)
        network = self._host.address.rpartition(".")[0]
        with (data / "pg_hba.conf").open("a") as file:
            file.write(f"host all all {network}.0/24 scram-sha-256\n")

    async def _launch(self, command: Command, user: ServerUser | None = None) -> None:
        await super()._launch(lambda: self._host.command(command(), user, "INT"))

    def _url(self, database: str) -> str:
        return super()._url(database).replace(_LOOPBACK, self._host.address)


class HostedValkey(Valkey):
    """A Valkey that is reached at its host's address."""

    def __init__(self, home: Path, host: Host) -> None:
        """Its password is asked for from there as from here."""
        super().__init__(home)
        self._host = host

    async def _launch(self, command: Command, user: ServerUser | None = None) -> None:
        await super()._launch(lambda: self._host.command(command(), user, "TERM"))

    def url_of(self, database: int) -> str:
        """Return the REDIS_URL of one of its numbered databases (0 to 63)."""
        return super().url_of(database).replace(_LOOPBACK, self._host.address)

    def _write_config(self) -> Path:
        path = super()._write_config()
        path.write_text(path.read_text().replace(f"bind {_LOOPBACK}", f"bind {self._host.address}"))
        return path
