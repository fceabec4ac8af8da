"""Three hosts with etcd, Patroni and Postgres each, configured by the file that deploy/patroni ships."""

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import asyncpg

from core.db.addresses import for_primary
from core.db.connector import connect
from core.errors import ConfigError
from onevalet.servers.child_process import ServerUser, unprivileged_user
from onevalet.servers.postgres import _programs
from tests.eventually import eventually
from tests.faults.failover import programs
from tests.forker import ROOT
from tests.namespaces import Host, hosts
from tests.services import _PREFIX

EXAMPLE = ROOT / "deploy" / "patroni" / "patroni.yml"
_STARTS_WITHIN = 120.0
_RETURNS_WITHIN = 90.0
_AWAY = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError)
"""What a client meets while there is no primary."""


@dataclass(slots=True)
class Node:
    """One host with its programs; `number` counts from 1."""

    number: int
    host: Host
    folder: Path
    user: ServerUser | None
    etcd: subprocess.Popen[bytes] | None = None
    patroni: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> Path:
        """Return the folder of Postgres."""
        return self.folder / "data"

    def start_etcd(self, cluster: str) -> None:
        """Start its voice in etcd; `cluster` names all of them."""
        peer, client = f"http://{self.host.address}:2380", f"http://{self.host.address}:2379"
        command: list[str | Path] = [programs.etcd(), "--name", f"n{self.number}", "--data-dir", self.folder / "etcd"]
        command += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
        command += ["--listen-client-urls", client, "--advertise-client-urls", client]
        command += ["--initial-cluster", cluster, "--initial-cluster-state", "new"]
        self.etcd = self.host.start(command, self.folder / "etcd.log", self.user)

    def start_patroni(self) -> None:
        """Start Patroni, which starts Postgres."""
        command = [*programs.patroni(self.user), self.folder / "patroni.yml"]
        self.patroni = self.host.start(command, self.folder / "patroni.log", self.user)

    def kill(self) -> None:
        """SIGKILL Patroni and the postmaster; what the postmaster had started ends by itself."""
        assert self.patroni is not None
        self.patroni.kill()
        self.patroni.wait()
        with suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)


@dataclass(slots=True)
class Cluster:
    """The nodes, of which one is the primary."""

    nodes: list[Node]
    password: str

    def url(self, user: str = "postgres", password: str = "", database: str = "onevalet") -> str:
        """Return a DATABASE_URL that names all hosts."""
        places = ",".join(f"{node.host.address}:5432" for node in self.nodes)
        return for_primary(f"postgresql://{user}:{password or self.password}@{places}/{database}?sslmode=disable")

    async def states(self) -> list[dict[str, object]]:
        """Return what Patroni says of the members, asked of the primary: who comes back tells old news."""
        asked = await self.primary()
        url = f"http://{asked.host.address}:8008/cluster"
        timeout = aiohttp.ClientTimeout(total=5)
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url) as answer:
            return list((await answer.json())["members"])

    async def primary(self) -> Node:
        """Return the node that takes writes now, as a client finds it."""
        connection = await connect(self.url(database="postgres"), timeout=5)
        try:
            address = await connection.fetchval("select host(inet_server_addr())")
        finally:
            await connection.close()
        return next(node for node in self.nodes if node.host.address == address)

    async def until_primary(self, but: Node, within: float = _RETURNS_WITHIN) -> Node:
        """Wait until another node is the primary."""

        async def another() -> list[Node]:
            with suppress(*_AWAY):
                return [node for node in [await self.primary()] if node is not but]
            return []

        [found] = await eventually(another, "another primary", within=within)
        return found

    async def until_whole(self, within: float = _RETURNS_WITHIN) -> None:
        """Wait until every node serves: a leader, one synchronous standby, and all that follow stream."""

        async def whole() -> bool:
            with suppress(*_AWAY, aiohttp.ClientError):
                states = await self.states()
                roles = sorted(str(state["role"]) for state in states)
                others = {state["state"] for state in states if state["role"] != "leader"}
                assert (roles, others) == (["leader", "replica", "sync_standby"], {"streaming"})
                return True
            return False

        await eventually(whole, "a whole cluster", within=within)

    def logs(self) -> str:
        """Return the ends of all logs, for an error."""
        logs = [node.folder / name for node in self.nodes for name in ("etcd.log", "patroni.log")]
        return "\n".join(f"--- {log.parent.name} {log.name}\n{log.read_text(errors='replace')[-1500:]}" for log in logs)


@asynccontextmanager
async def running_cluster() -> AsyncIterator[Cluster]:
    """Run the cluster for the block; its database `onevalet` has no tables. Raises `ConfigError` without the means."""
    programs.etcd()
    user = unprivileged_user()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    folder.chmod(0o711)  # noqa: ASYNC240 - once
    try:
        with hosts(3) as made:
            nodes = [Node(number, host, _folder(folder, number, user), user) for number, host in enumerate(made, 1)]
            cluster = Cluster(nodes, secrets.token_urlsafe(24))
            try:
                await _start(cluster)
            except AssertionError as error:
                raise ConfigError(f"The cluster did not start:\n{cluster.logs()}") from error
            yield cluster
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _start(cluster: Cluster) -> None:
    everybody = ",".join(f"n{node.number}=http://{node.host.address}:2380" for node in cluster.nodes)
    for node in cluster.nodes:
        node.start_etcd(everybody)
        configure(node, cluster.nodes, cluster.password)
    for node in cluster.nodes:
        node.start_patroni()
    await cluster.until_whole(_STARTS_WITHIN)
    connection = await connect(cluster.url(database="postgres"), timeout=10)
    try:
        await connection.execute("create database onevalet")
    finally:
        await connection.close()


def configure(node: Node, nodes: Sequence[Node], password: str) -> None:
    """Write a node's configuration: fill in the example: addresses, folders and passwords are all that differs."""
    text = EXAMPLE.read_text()
    own = text.replace("listen: 10.0.0.11", f"listen: {node.host.address}")
    own = own.replace("connect_address: 10.0.0.11", f"connect_address: {node.host.address}")
    for one in nodes:
        own = own.replace(f"10.0.0.{10 + one.number}:2379", f"{one.host.address}:2379")
    net = node.host.address.rpartition(".")[0]
    for old, new in {
        "name: one\n": f"name: n{node.number}\n",
        "10.0.0.0/24": f"{net}.0/24",
        "/var/lib/postgresql/onevalet": str(node.data),
        "/usr/lib/postgresql/18/bin": str(_programs(node.user)),
        "/var/lib/postgresql/pgpass": str(node.folder / "pgpass"),
        "/var/run/postgresql": str(node.folder),
        "<superuser password>": password,
        "<replication password>": password,
        "<rewind password>": password,
    }.items():
        assert old in own, f"{EXAMPLE.name} has no {old!r}"
        own = own.replace(old, new)
    assert "10.0.0." not in own.partition("scope:")[2], own
    (node.folder / "patroni.yml").write_text(own)


def _folder(folder: Path, number: int, user: ServerUser | None) -> Path:
    made = folder / str(number)
    made.mkdir(mode=0o700)
    if user:
        os.chown(made, user.uid, user.gid)
    return made
