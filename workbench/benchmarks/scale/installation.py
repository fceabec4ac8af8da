"""The measured installation: each part on a host of its own, PgBouncer before Postgres.

A host is a network namespace on a bridge. If those cannot be created, everything runs on this machine itself.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from abilities.memory.settings import MemorySettings
from core.db.connector import connect
from core.errors import ConfigError
from tests.forker import Forker
from tests.namespaces import Host, hosts
from tests.scripted_model import ModelCall, Reply, echo
from tests.servers.pgbouncer import Pooler, running_pooler
from tests.spine.system import Places, Setup, System, running_system
from workbench.benchmarks.scale.login import make_login
from workbench.benchmarks.whole.model import read
from workbench.simulator.config import Person

WEBS, SERVERS = 2, 20
"""Web processes, and connections that PgBouncer has at Postgres."""
OF_WORKER, OF_WEB = 20, 10
"""Connections that a process holds at most."""
ROUND_TRIP = 0.5
"""Milliseconds, as between machines of a data centre."""
SHIPPED: Mapping[str, str] = {"ONEVALET_MEMORY": MemorySettings.model_fields["onevalet_memory"].default}
_MORE = {"ONEVALET_SMS_SEGMENTS_PERSON_DAY": "1000000"}
"""The usual limit of a day's segments would end a run in its middle."""


@dataclass(frozen=True, slots=True)
class Network:
    """The hosts of all parts; `round_trip`: milliseconds that a round trip between two takes more than here."""

    made: Sequence[Host]
    round_trip: float

    @property
    def pooler(self) -> Host:
        """Return PgBouncer's."""
        return self.made[0]

    @property
    def postgres(self) -> Host:
        """Return Postgres'."""
        return self.made[1]

    def places(self, workers: int) -> Places:
        """Return the values for a number of workers."""
        _, _, valkey, *others = self.made
        return Places(self.postgres, valkey, others[:WEBS], others[WEBS : WEBS + workers])


@dataclass(frozen=True, slots=True)
class Installation:
    """The running parts; `direct` is the processes' address of the database without PgBouncer."""

    system: System
    pooler: Pooler
    direct: str
    network: Network | None


@contextmanager
def network(workers: int = 0) -> Iterator[Network | None]:
    """Create the hosts for the block; None, with the reason on standard error, if they cannot be created."""
    with ExitStack() as stack:
        try:
            made = stack.enter_context(hosts(3 + WEBS + workers))
        except ConfigError as error:
            sys.stderr.write(f"{error}\nWithout them everything runs on this machine itself.\n")
            made = []
        # Each host delays its own packets, and both send in a round trip.
        delayed = [host.delay(ROUND_TRIP / 2) for host in made]
        if not all(delayed):
            sys.stderr.write("This kernel has no netem: packets between the hosts take no time.\n")
        yield Network(made, ROUND_TRIP if all(delayed) else 0.0) if made else None


@asynccontextmanager
async def running(
    folder: Path, everyone: tuple[Person, ...], forker: Forker, where: Network | None, *, workers: int, clients: int
) -> AsyncIterator[Installation]:
    """Run an installation for the block; PgBouncer accepts `clients` connections."""
    poolers: list[tuple[str, Pooler]] = []

    @asynccontextmanager
    async def reaching(url: str) -> AsyncIterator[str]:
        direct = await make_login(url)
        most = f"max_client_conn = {clients + 100}"
        async with running_pooler(direct, most, host=where.pooler if where else None, servers=SERVERS) as pooler:
            poolers.append((direct, pooler))
            yield pooler.url

    folder.mkdir()  # noqa: ASYNC240 - once
    setup = Setup(
        script=_answer,
        environment=SHIPPED | _MORE,
        connections=200,
        reaching=reaching,
        places=where.places(workers) if where else None,
    )
    async with running_system(folder, everyone, forker, webs=WEBS, workers=workers, setup=setup) as system:
        direct, pooler = poolers[0]
        yield Installation(system, pooler, direct, where)


def _answer(call: ModelCall) -> Reply:
    """Read a talk, or repeat what was said, which tells who was answered."""
    return read(call) or echo(call)


@asynccontextmanager
async def held(url: str, count: int) -> AsyncIterator[None]:
    """Hold this number of further connections for the block, as idle workers do."""
    opened = []
    try:
        for _ in range(count):
            opened.append(await connect(url, timeout=60, statement_cache_size=0))
            await asyncio.sleep(0)
        yield
    finally:
        for connection in opened:
            connection.terminate()
