"""Two partitions behind a router, each with its workers; two `web` before the router."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import psutil

from onevalet.migrating import migrate
from onevalet.servers.postgres import Postgres
from operations.partitions.router import Login, make_router
from tests.forker import Forker
from tests.servers.plproxy import empty_router
from tests.services import private_postgres
from tests.spine.system import Member, Setup, System, running_system
from workbench.simulator.config import Person

LOGIN = "onevalet_serving"


@dataclass(frozen=True, slots=True)
class Halves:
    """The system, whose own Postgres is partition 0, and the other one."""

    system: System
    partitions: tuple[Postgres, Postgres]
    router: str

    @property
    def urls(self) -> tuple[str, ...]:
        """Return the addresses of both partitions' owners."""
        return tuple(partition.url for partition in self.partitions)

    async def half_of(self, people: tuple[Person, ...], account: str) -> dict[str, int]:
        """Return in which partition each person is, by their number, as the router leads them."""
        connection = await asyncpg.connect(self.router)
        try:
            asked = "select partition_at('sms', $1, $2)"
            return {person.phone: await connection.fetchval(asked, account, person.phone) for person in people}
        finally:
            await connection.close()


@asynccontextmanager
async def running_halves(folder: Path, people: tuple[Person, ...], forker: Forker) -> AsyncIterator[Halves]:
    """Run all of it for the block. Raises `ConfigError` where there is no PL/Proxy."""
    folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 - once
    async with empty_router() as router, private_postgres() as second:
        login = Login(LOGIN, secrets.token_urlsafe(24))
        environment: dict[str, str] = {}

        async def prepare(first: str) -> None:
            for number, url in enumerate((first, second.url)):
                await make_partition(url, number, login)
            await make_router(router, (first, second.url), login)
            environment["DATABASE_URL"] = router

        setup = Setup(environment=environment, migrate=prepare)
        async with running_system(folder, people, forker, webs=2, workers=0, setup=setup) as system:
            halves = Halves(system, (system.postgres, second), router)
            for number, url in enumerate(halves.urls):
                _add_worker(halves, number, url, login, forker)
            yield halves


async def make_partition(url: str, number: int, login: Login) -> None:
    """Make an empty database a partition, which `login` may ask."""
    await migrate(url)
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(
            f"create role {login.name} login noinherit password '{login.password}';"
            f" grant onevalet_app to {login.name}; alter role {login.name} set role = 'onevalet_app'"
        )
        await connection.execute("select set_partition($1)", number)
    finally:
        await connection.close()


def _add_worker(halves: Halves, number: int, url: str, login: Login, forker: Forker) -> None:
    """Start a worker that is bound to a partition. Its wakeups are its own: it finds what `web` took in by looking."""
    system, place = halves.system, url.rpartition("@")[2]
    name = f"worker{number}"
    environment = system.environment | {
        "DATABASE_URL": f"postgresql://{login.name}:{login.password}@{place}",
        "ONEVALET_ROUTER_URL": halves.router,
        "REDIS_URL": f"{system.valkey.url.rpartition('/')[0]}/{number + 1}",
    }
    member = Member(name, "worker", environment, system.folder / f"{name}.log", forker)
    member.start()
    system.workers.append(member)


async def kill(postgres: Postgres) -> None:
    """SIGKILL a Postgres with all its processes, as a machine that is gone."""
    assert postgres.pid is not None
    server = psutil.Process(postgres.pid)
    for process in (server, *server.children()):
        process.kill()
    await postgres.stop()
