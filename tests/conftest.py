"""The fixtures that all tests share: a migrated database for each test, a store on it, a Redis database, a clock."""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest
import structlog

from core.clock import set_clock
from onevalet.wiring.abilities import use_abilities
from tests import needs, tiers
from tests import services as servers
from tests.core.harness import Store, opened
from tests.database_pool import DatabasePool
from tests.examples import be_patient
from tests.forker import Forker
from tests.kept_connections import Keeper
from tests.redis_origins import note_origins
from tests.running_dev import RunningDev, running_dev
from tests.servers.dovecot import dovecot as dovecot
from tests.servers.mcp_forks import mcp_forks as mcp_forks
from tests.servers.nanoidp import nanoidp as nanoidp
from tests.servers.radicale import Radicale, run_radicale

_SERVERS = pytest.StashKey[servers.RunServers]()
_LOOP = pytest.StashKey[asyncio.AbstractEventLoop]()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose what all tests of this process share."""
    be_patient(promise_tier=tiers.is_promise_tier(config), full=config.getoption("--full"))
    use_abilities()
    note_origins()
    # Rich tracebacks, with the values of all locals, cost a test that logs a few of them some seconds.
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])
    sent = getattr(config, "workerinput", None)
    if sent is None and config.getoption("numprocesses", None) and not config.option.collectonly:
        config.stash[_SERVERS] = servers.RunServers()
        config.pluginmanager.register(MainProcess(config.stash[_SERVERS]))
    if sent is not None or not config.getoption("numprocesses", None):
        gc.disable()  # while tests are collected there is no garbage, and looking for it takes a quarter of the time


class MainProcess:
    """Starts the servers in the main process of xdist, and says so, and at the end what was left out."""

    def __init__(self, started: servers.RunServers) -> None:
        self._servers = started

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Print the tier that runs, and the folder of its servers."""
        tier = "the promise tier" if tiers.is_promise_tier(session.config) else "what was asked for"
        self._write(session.config, f"Runs {tier}, on a Postgres and a Valkey of its own in {self._servers.folder}.")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Start them while the workers collect; no test is handed out before this returns."""
        services = self._servers.start()
        if session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            servers.run(servers.make_template(services))

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, config: pytest.Config) -> None:
        """Print the other tiers, or the programs that are missing."""
        if tiers.is_promise_tier(config):
            self._write(config, "More: bin/test --whole (all that is not slow), bin/test -m slow; see CONTRIBUTING.md.")
        elif missing := needs.missing():
            self._write(config, f"Some tests are skipped without: apt-get install {' '.join(missing)}")

    def _write(self, config: pytest.Config, line: str) -> None:
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line(line)


def pytest_collection_finish() -> None:
    """Spare the garbage collector what stays for the whole run, which it would walk through again and again.

    What is garbage by now stays too: there is little of it, and to look for it takes a second.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """End the tasks that a test left running, as an event loop of its own would have done."""
    try:
        return (yield)
    finally:
        loop = item.session.stash.get(_LOOP, None)
        if loop is not None and (left := asyncio.all_tasks(loop)):
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))


def pytest_sessionfinish() -> None:
    """Look once for what was never awaited or closed; pytest looks twice, each time through all that is left."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of xdist where the servers' addresses will be."""
    node.workerinput["folder"] = str(node.config.stash[_SERVERS].folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the servers where they were started."""
    started = config.stash.get(_SERVERS, None)
    if started is not None:
        started.stop()


@pytest.fixture(scope="session")
def services(pytestconfig: pytest.Config) -> servers.RunServices:
    """Return the run's servers; without xdist they are started at their first use."""
    sent = getattr(pytestconfig, "workerinput", None)
    return servers.RunServices.of(Path(sent["folder"])) if sent else start_servers(pytestconfig)


@pytest.fixture(scope="session")
def migrated_services(services: servers.RunServices) -> servers.RunServices:
    """Return the run's servers once the template database exists."""
    servers.run(servers.make_template(services))
    return services


@pytest.fixture(scope="session")
def keeper(services: servers.RunServices) -> Iterator[Keeper]:
    """Yield what keeps connections to the run's Postgres from one test to the next."""
    keeper = Keeper(urlsplit(services.database_url).netloc.rpartition("@")[2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncpg, "connect", keeper.connect)
        yield keeper


@pytest.fixture(scope="session", autouse=True)
async def loop_of_all(request: pytest.FixtureRequest) -> None:
    """Remember the event loop in which all tests of this process run."""
    request.session.stash[_LOOP] = asyncio.get_running_loop()


@pytest.fixture(scope="session")
async def keeper_at_work(keeper: Keeper) -> AsyncIterator[Keeper]:
    """Yield the keeper, which keeps for the loop of all tests."""
    keeper.loop = asyncio.get_running_loop()
    yield keeper
    await keeper.close()


@pytest.fixture
def new_sessions(keeper: Keeper) -> Iterator[None]:
    """Open a new session for every connection of a test whose subject is what a session costs."""
    keeper.keeps = False
    yield
    keeper.keeps = True


@pytest.fixture(scope="session")
def database_pool(
    migrated_services: servers.RunServices, worker_number: int, keeper_at_work: Keeper
) -> Iterator[DatabasePool]:
    """Yield the databases that this worker lends to its tests."""
    pool = DatabasePool(migrated_services, f"test_{worker_number}", keeper_at_work)
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
    """Yield the forker of our processes; a few xdist groups share it: "processes", "faults", "dev" …"""
    with Forker() as forker:
        yield forker


@pytest.fixture
def forked_end_with_their_test(forker: Forker) -> Iterator[None]:
    """Leave no process of a test that failed to work on what the next one writes."""
    count = len(forker.children)
    yield
    forker.end_since(count)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let what a test forks end with it, after all else of its own has: a fixture of every test is dear."""
    names: list[str] = getattr(item, "fixturenames", [])
    if "forker" in names and "forked_end_with_their_test" not in names:
        definitions = getattr(item, "_fixtureinfo").name2fixturedefs  # noqa: B009 - pytest has no other
        shared = [name for name in names if name in definitions and definitions[name][-1].scope != "function"]
        names.insert(names.index(shared[-1]) + 1, "forked_end_with_their_test")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Undo what an assistant inside the test has made quiet: other tests look at what libraries log."""
    before = _levels()
    try:
        return (yield)
    finally:
        for name, level in _levels().items():
            if level != before.get(name, logging.NOTSET):
                logging.getLogger(name).setLevel(before.get(name, logging.NOTSET))


def _levels() -> dict[str, int]:
    """Return the levels of the libraries that the product makes quiet, once it has been loaded."""
    names = getattr(sys.modules.get("onevalet.wiring.logs"), "QUIET", ())
    return {name: logging.getLogger(name).level for name in names}


@pytest.fixture(scope="session")
def dev(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Iterator[RunningDev]:
    """Yield a `dev` that started in an empty folder, for the xdist group "dev"; "own dev" starts others."""
    with running_dev(forker, tmp_path_factory.mktemp("dev") / "home", signal.SIGTERM) as running:
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


def start_servers(config: pytest.Config) -> servers.RunServices:
    """Start the servers that all tests of a run use, and return them."""
    config.stash[_SERVERS] = started = servers.RunServers()
    return started.start()
