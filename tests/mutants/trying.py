"""A pytest plugin: it collects once, and then runs a few tests at a time for whoever holds the other end of a wire.

Each order runs in a fork of this process, which has imported everything: what remains is what the tests cost.
Orders and answers are lines of JSON.
"""

import asyncio
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from types import FunctionType
from typing import IO

import asyncpg
import pytest

import core
from tests import conftest
from tests import services as servers
from tests.eventually import eventually_blocking
from tests.mutants.swap import CannotSwapError, functions_of_process, swap

PATIENCE = 120.0
"""Seconds for a test, besides ten times what it took: one that takes longer hangs."""
_SLOWER = 10


@dataclass(frozen=True, slots=True)
class Order:
    """Tests to run until one fails, with the seconds that each once took; `source` is what `path` has become."""

    tests: dict[str, float]
    path: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of an order. `failed` is a test's name, empty where all passed; `how` says how it failed.

    `anew`: the mutant has to be imported by a new process.
    """

    failed: str = ""
    how: str = ""
    anew: bool = False


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--wire", type=int, metavar="FD", help="where orders come from and answers go")


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run what is ordered until the other end closes the wire."""
    if session.testsfailed:
        raise session.Interrupted("a file of tests cannot be imported")
    with socket.socket(fileno=session.config.getoption("--wire")) as wire, wire.makefile("rw") as lines:
        loop = _Loop(session)
        _say(lines, {"core": str(Path(core.__file__ or "").parent), "tests": list(loop.items)})
        for line in lines:
            _say(lines, asdict(loop.run(Order(**json.loads(line)))))
    return True


class _Loop:
    """Forks for each order, and watches the fork."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self.items = {item.nodeid: item for item in session.items}
        self._services: servers.RunServices | None = None
        if any(map(_needs_servers, session.items)):
            self._services = conftest.start_servers(session.config)
            servers.run(servers.make_template(self._services))
        self._functions = functions_of_process()

    def run(self, order: Order) -> Answer:
        """Run an order in a fork."""
        items = [self.items[name] for name in order.tests if name in self.items]
        source, sink = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(source)
            self._in_fork(items, order, sink)
        os.close(sink)
        try:
            with os.fdopen(source, "rb", buffering=0) as news:
                return _watched(news, pid, order.tests)
        finally:
            _end(pid)

    def _in_fork(self, items: Sequence[pytest.Item], order: Order, sink: int) -> None:
        """Run the tests and leave without a word to pytest: what it has to tidy up belongs to the parent."""
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in (1, 2):
                os.dup2(nothing, number)
            for word, name in self._steps(items, order):
                os.write(sink, f"{word} {name}\n".encode())
        except Exception as error:
            os.write(sink, f"broken {error!r}\n".encode())
        finally:
            os._exit(0)

    def _steps(self, items: Sequence[pytest.Item], order: Order) -> Iterator[tuple[str, str]]:
        if order.source:
            file = str(Path(order.path).absolute())
            try:
                swap(self._functions_of(file), file, order.source)
            except CannotSwapError:
                yield "anew", order.path
                return
        if self._services is not None and any(map(_needs_servers, items)):
            servers.run(_drop_databases(self._services))
        reports = _Reports()
        self._session.config.pluginmanager.register(reports)
        for item, following in zip_longest(items, items[1:]):
            yield "begun", item.nodeid
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if reports.failed:
                yield "failed", item.nodeid
                self._session._setupstate.teardown_exact(None)
                return
        yield "passed", "all"

    def _functions_of(self, file: str) -> list[FunctionType]:
        if file in self._functions:
            return self._functions[file]
        # A test imports it, from the file.
        if any(getattr(module, "__file__", None) == file for module in list(sys.modules.values())):
            raise CannotSwapError(f"{file} has no functions")
        return []


class _Reports:
    """Notes whether a test failed."""

    def __init__(self) -> None:
        self.failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note it."""
        self.failed = self.failed or report.failed


def _watched(news: IO[bytes], pid: int, took: dict[str, float]) -> Answer:
    """Return what the fork told; a test that hangs, or ends its process, has failed."""
    test, kept, deadline = "", b"", time.monotonic() + PATIENCE
    while True:
        readable, _, _ = select.select([news], [], [], max(0.0, deadline - time.monotonic()))
        if not readable:
            return Answer(test or "no test", "it hangs")
        chunk = news.read(65536)
        if not chunk:
            return Answer(test or "no test", "its process ended")
        *lines, kept = (kept + chunk).split(b"\n")
        for line in lines:
            word, _, name = line.decode().partition(" ")
            match word:
                case "begun":
                    test, deadline = name, time.monotonic() + PATIENCE + _SLOWER * took[name]
                case "failed":
                    return Answer(name, "it fails")
                case "broken":
                    raise RuntimeError(f"the fork came to an end between tests: {name}")
                case _:
                    return Answer(anew=word == "anew")


def _needs_servers(item: pytest.Item) -> bool:
    return "services" in getattr(item, "fixturenames", ())


def _end(pid: int) -> None:
    """End a fork, and what it started, once it had a moment to put its fixtures away."""
    with suppress(AssertionError):
        eventually_blocking(lambda: os.waitpid(pid, os.WNOHANG)[0] != 0, "the fork's end")
    try:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        return  # it ended by itself


def _say(lines: IO[str], what: object) -> None:
    lines.write(json.dumps(what) + "\n")
    lines.flush()


async def _drop_databases(services: servers.RunServices) -> None:
    """Drop the databases that the last fork's tests borrowed, whose names this one's would take."""
    connection = await asyncpg.connect(services.database_url)
    try:
        names = await connection.fetch("select datname from pg_database where datname ~ '^test_[0-9]+_[0-9]+$'")
    finally:
        await connection.close()
    await asyncio.gather(*(servers.drop_database(services, name) for (name,) in names))
