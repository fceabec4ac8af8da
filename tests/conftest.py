"""The fixtures that all tests share: a migrated database for each test, a store on it, a Redis database, a clock."""

import gc
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, settings

from core.clock import set_clock
from tests import services as servers
from tests.core.harness import Store, opened
from tests.database_pool import DatabasePool
from tests.forker import Forker
from tests.running_dev import RunningDev, running_dev
from tests.servers.dovecot import dovecot as dovecot
from tests.servers.nanoidp import nanoidp as nanoidp
from tests.servers.radicale import Radicale, run_radicale

# How long an example takes to make says how busy the machine is; in a fresh clone the first one reads all of Unicode.
# So does how long one takes to run.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

_SERVERS = pytest.StashKey[servers.RunServers]()
_SERVICES = pytest.StashKey[servers.RunServices]()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Leave out slow tests unless `-m` is given; with xdist, start the servers in its main process."""
    if not config.option.markexpr:
        config.option.markexpr = "not slow"
    # Rich tracebacks, with the values of all locals, cost a test that logs a few of them some seconds.
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])
    sent = getattr(config, "workerinput", None)
    if sent is not None:
        config.stash[_SERVICES] = servers.RunServices.from_json(sent["services"])
    elif config.getoption("numprocesses", None) and not config.option.collectonly:
        _start(config)
    if sent is not None or not config.getoption("numprocesses", None):
        gc.disable()  # while tests are collected there is no garbage, and looking for it takes a quarter of the time


def pytest_collection_finish() -> None:
    """Spare the garbage collector what stays for the whole run, which it would walk through again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 20, 20)


def pytest_sessionfinish() -> None:
    """Look once for what was never awaited or closed; pytest looks twice, each time through all that is left."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass the servers' addresses to a worker of xdist."""
    node.workerinput["services"] = node.config.stash[_SERVICES].to_json()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the servers where they were started."""
    started = config.stash.get(_SERVERS, None)
    if started is not None:
        started.stop()


@pytest.fixture(scope="session")
def services(pytestconfig: pytest.Config) -> servers.RunServices:
    """Return the run's servers; without xdist they are started at their first use."""
    if _SERVICES not in pytestconfig.stash:
        _start(pytestconfig)
    return pytestconfig.stash[_SERVICES]


@pytest.fixture(scope="session")
def migrated_services(services: servers.RunServices) -> servers.RunServices:
    """Return the run's servers once the template database exists."""
    servers.run(servers.make_template(services))
    return services


@pytest.fixture(scope="session")
def database_pool(migrated_services: servers.RunServices, worker_number: int) -> Iterator[DatabasePool]:
    """Yield the databases that this worker lends to its tests."""
    pool = DatabasePool(migrated_services, f"test_{worker_number}")
    yield pool
    pool.close()


@pytest.fixture
def database_url(database_pool: DatabasePool) -> Iterator[str]:
    """Yield the URL of an empty, migrated database that no other test uses at the same time."""
    with database_pool.borrow() as url:
        yield url


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """Yield an empty store."""
    async with opened(database_url) as store:
        yield store


@pytest.fixture
async def redis_url(services: servers.RunServices, worker_number: int) -> str:
    """Return the URL of this worker's own Valkey database, emptied; pub/sub is shared by all workers."""
    url = servers.on_redis_database(services, worker_number)
    await servers.flush(url)
    return url


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    """Yield the forker of our processes. Its tests are in the xdist group "processes", so that one forker is enough."""
    with Forker() as forker:
        yield forker


@pytest.fixture(scope="session")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDev]:
    """Yield a `dev` that started in an empty folder. Its tests are in the xdist group "dev"."""
    with running_dev(tmp_path_factory.mktemp("dev") / "home", signal.SIGTERM) as running:
        yield running


@pytest.fixture(scope="session")
def radicale_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Radicale]:
    """Yield the Radicale of this worker."""
    with run_radicale(tmp_path_factory.mktemp("radicale")) as server:
        yield server


@pytest.fixture
def radicale(radicale_server: Radicale) -> Radicale:
    """Return this worker's Radicale, on which nobody has anything."""
    radicale_server.empty()
    return radicale_server


@pytest.fixture
def clock_path(tmp_path: Path) -> Path:
    """Return the file of a clock that shows the machine's time until `set_clock` moves it."""
    path = tmp_path / "clock.json"
    set_clock(path)
    return path


@pytest.fixture(scope="session")
def worker_number(pytestconfig: pytest.Config) -> int:
    """Number the workers of a run from 0."""
    sent = getattr(pytestconfig, "workerinput", None)
    return int(sent["workerid"].removeprefix("gw")) if sent else 0


def _start(config: pytest.Config) -> None:
    config.stash[_SERVERS] = started = servers.RunServers()
    config.stash[_SERVICES] = started.start()
