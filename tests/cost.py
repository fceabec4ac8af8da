"""A pytest plugin: what the tests cost in CPU, by process, folder, fixture and test.

`bin/test --cost` prints it, `--cost=20` with the 20 dearest of each.

Wall clock says how busy a machine was; CPU is nearly the same on a quiet machine and on a busy one, so it compares.
What Postgres spends is known for the whole run only, since its processes serve one test after another.
"""

import os
import resource
import time
from collections import defaultdict
from collections.abc import Generator, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.children.kept_process import end_kept

_TICKS = os.sysconf("SC_CLK_TCK")
_NAMES = "cost"
type Table = dict[str, list[float]]
"""Counts, wall seconds, CPU seconds of the test's process, CPU seconds of processes that it reaped."""


@dataclass(slots=True)
class Spent:
    """What one process of pytest spent."""

    tests: Table = field(default_factory=lambda: defaultdict(lambda: [0.0, 0.0, 0.0, 0.0]))
    fixtures: Table = field(default_factory=lambda: defaultdict(lambda: [0.0, 0.0, 0.0, 0.0]))
    collecting: float = 0.0
    own: float = 0.0
    children: float = 0.0


class Meter:
    """Measures each phase of each test in the process that runs it."""

    def __init__(self) -> None:
        self.spent = Spent()
        self._inside: list[float] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Measure what collecting costs."""
        before = time.process_time()
        try:
            return (yield)
        finally:
            self.spent.collecting = time.process_time() - before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure a test with the fixtures that it is the first to need and the last to keep."""
        wall, own, children = time.monotonic(), time.process_time(), _children()
        try:
            return (yield)
        finally:
            _add(
                self.spent.tests[item.nodeid],
                time.monotonic() - wall,
                time.process_time() - own,
                _children() - children,
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        """Measure what making a fixture costs, without the fixtures that it asks for in the meantime."""
        wall, own = time.monotonic(), time.process_time()
        self._inside.append(0.0)
        try:
            return (yield)
        finally:
            spent = time.process_time() - own
            _add(self.spent.fixtures[fixturedef.argname], time.monotonic() - wall, spent - self._inside.pop(), 0.0)
            if self._inside:
                self._inside[-1] += spent

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send what was spent to the main process of xdist."""
        end_kept()  # what they spent is known once they have ended
        self.spent.own, self.spent.children = time.process_time(), _children()
        sent = getattr(session.config, "workeroutput", None)
        if sent is not None:
            # xdist sends no kind of dictionary but the plain one.
            sent[_NAMES] = asdict(self.spent) | {"tests": dict(self.spent.tests), "fixtures": dict(self.spent.fixtures)}


class Report:
    """Prints what all processes of a run spent."""

    def __init__(self, meter: Meter, dearest: int) -> None:
        self._meter = meter
        self._dearest = dearest
        self._workers: list[Spent] = []
        self._servers: dict[str, float] = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Keep what a worker of xdist spent."""
        sent = getattr(node, "workeroutput", {}).get(_NAMES)
        if sent:
            self._workers.append(Spent(**sent))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Ask what the servers have spent so far; they are children of this process."""
        self._servers = servers_of(os.getpid())

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the tables."""
        spent = self._workers or [self._meter.spent]
        for line in self._lines(spent):
            terminalreporter.write_line(line)

    def _lines(self, spent: list[Spent]) -> Iterable[str]:
        processes = self._servers | {
            "tests": sum(one.own for one in spent),
            "of which collecting": sum(one.collecting for one in spent),
            "their children": sum(one.children for one in spent),
        }
        if self._workers:
            processes["pytest's main process"] = time.process_time()
        yield "CPU seconds by process"
        for name, seconds in sorted(processes.items(), key=lambda pair: -pair[1]):
            yield f"{seconds:9.1f} {name}"
        tests = _merged(one.tests for one in spent)
        yield from _rows("by folder", _by_folder(tests), self._dearest)
        yield from _rows("by fixture, its own part", _merged(one.fixtures for one in spent), self._dearest)
        yield from _rows("by test", tests, self._dearest)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--cost", nargs="?", type=int, const=50, metavar="N", help="print CPU, with the N dearest (50)")


def pytest_configure(config: pytest.Config) -> None:
    """Measure where it is asked for."""
    dearest = config.getoption("--cost")
    if dearest is None:
        return
    meter = Meter()
    config.pluginmanager.register(meter, "cost_meter")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(meter, dearest), "cost_report")


def servers_of(pid: int) -> dict[str, float]:
    """Return the CPU seconds of a process' children by their program, each with the children that it reaped or has.

    Other processes of pytest are left out: they say themselves what they spent.
    """
    below = defaultdict(list)
    spent: dict[int, tuple[str, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # proc(5): pid (name) state ppid …, and user and system time, its own and of reaped children, from field 14.
            head, _, rest = path.read_text().rpartition(")")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended
        fields = rest.split()
        number = int(path.parent.name)
        below[int(fields[1])].append(number)
        spent[number] = head.partition("(")[2], sum(map(int, fields[11:15])) / _TICKS

    def whole(number: int) -> float:
        return spent[number][1] + sum(map(whole, below[number]))

    found: dict[str, float] = defaultdict(float)
    for child in below[pid]:
        if "python" not in spent[child][0] and "pytest" not in spent[child][0]:
            found[spent[child][0]] += whole(child)
    return found


def _add(row: list[float], wall: float, own: float, children: float) -> None:
    row[0] += 1
    row[1] += wall
    row[2] += own
    row[3] += children


def _merged(tables: Iterable[Table]) -> Table:
    merged: Table = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    for table in tables:
        for name, row in table.items():
            merged[name] = [a + b for a, b in zip(merged[name], row, strict=True)]
    return merged


def _by_folder(tests: Table) -> Table:
    return _merged({_folder(name): row} for name, row in tests.items())


def _folder(nodeid: str) -> str:
    parts = nodeid.partition("::")[0].split("/")[1:-1]
    return "/".join(parts[:2]) or "tests"


def _rows(title: str, table: Table, most: int) -> Iterable[str]:
    whole = sum(row[2] + row[3] for row in table.values()) or 1.0
    yield f"CPU seconds {title} (count, wall, own CPU, children's CPU, share so far)"
    so_far = 0.0
    for name, (count, wall, own, children) in sorted(table.items(), key=lambda pair: -pair[1][2] - pair[1][3])[:most]:
        so_far += own + children
        yield f"{count:7.0f} {wall:9.1f} {own:9.2f} {children:9.2f} {so_far / whole:6.0%} {name}"


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
