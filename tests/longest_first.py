"""A pytest plugin: xdist hands out what takes longest first, so that no worker ends minutes before the others.

`tests/durations.toml` says how long the long tests took. A run with `--write-durations` writes what it measured there;
it wants a quiet machine. What is not listed is short.

xdist's own order is by how many tests a group has, and it binds two tests to a worker ahead: behind one that takes
minutes, whatever comes next would wait although others have nothing to do.

Short tests go by the dozen, of one file: a worker that is given them one by one waits for the main process after each,
and all workers make what the file's tests share. A worker stays in a folder while there is work for it: it has loaded
what the folder needs, and keeps the children that read files or serve tools there.
"""

import json
import tomllib
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController

from tests.by_chance.plugin import without_group

FILE = Path(__file__).with_name("durations.toml")
LONG = 2.0
"""Seconds from which a test is listed."""
_SHORT = 0.05
"""Seconds that one is taken to last that is not."""
MOST = 16
"""How many short tests are handed out at once."""
PORTIONS = 50
"""How many portions of short tests each worker gets at least, so that all end at the same time."""
_HEAD = """\
# Seconds that the long tests take on a quiet machine: xdist hands out the longest first, by tests/longest_first.py.
# Written by `bin/test -m slow --write-durations` and `bin/test --whole --write-durations`.
"""


class LongestFirst(LoadGroupScheduling):  # type: ignore[misc] # xdist has no types
    """Hands out groups and single tests by how long they take, the next one only when a worker's last test begins."""

    def __init__(self, config: pytest.Config, log: Producer | None = None, file: Path = FILE) -> None:
        super().__init__(config, log)
        self.workqueue: OrderedDict[str, dict[str, bool]]
        self._seconds = read(file)
        self._places: dict[str, int] = {}
        self._portions: dict[str, str] = {}
        self._folders: dict[str, str] = {}
        self._at: dict[WorkerController, str] = {}

    def schedule(self) -> None:
        """Divide what was collected, and hand out the first."""
        if self.collection is None:
            tests = next(iter(self.registered_collections.values()))
            self._portions = portions([test for test in tests if self._is_short(test)], self.numnodes)
            self._folders = {name: "/".join(name.split("/")[:-1][:3]) for name in self._portions.values()}
        super().schedule()

    def _is_short(self, test: str) -> bool:
        return super()._split_scope(test) == test and test not in self._seconds

    def _split_scope(self, nodeid: str) -> str:
        return self._portions.get(nodeid) or str(super()._split_scope(nodeid))

    def _assign_work_unit(self, node: WorkerController) -> None:
        if not self._places:
            self.workqueue = OrderedDict(longest_first(self.workqueue, self._seconds))
            self._places = {test: place for place, test in enumerate(self.registered_collections[node])}
        scope = self._next_for(node)
        tests = self.workqueue.pop(scope)
        self.assigned_work[node][scope] = tests
        node.send_runtest_some([self._places[test] for test, completed in tests.items() if not completed])

    def _next_for(self, node: WorkerController) -> str:
        """Return what takes longest; of short tests those of the worker's folder, or of one where nobody is."""
        first = next(iter(self.workqueue))
        if first not in self._folders:
            return first
        here, taken = self._at.get(node), {self._at.get(other) for other in self.nodes if other is not node}
        folders = [(name, self._folders.get(name)) for name in self.workqueue]
        stays = (name for name, folder in folders if folder == here)
        goes = (name for name, folder in folders if folder not in taken)
        chosen = next(chain(stays, goes, [first]))
        self._at[node] = self._folders.get(chosen, here or "")
        return chosen

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Note that a test has ended, and forget what has wholly ended: xdist counts through all of it each time."""
        super().mark_test_complete(node, item_index, duration)
        work = self.assigned_work[node]
        scope = self._split_scope(self.registered_collections[node][item_index])
        if all(work[scope].values()):
            del work[scope]

    def _reschedule(self, node: WorkerController) -> None:
        # A worker runs a test when it has heard of the next one, so it needs two, of which the first may be running.
        if node.shutting_down or not self.workqueue or self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)


def portions(tests: Sequence[str], workers: int) -> dict[str, str]:
    """Return the name of each test's portion; the tests of a portion are of one file."""
    most = min(MOST, max(1, len(tests) // (workers * PORTIONS)))
    counts: Counter[str] = Counter()
    named: dict[str, str] = {}
    for test in tests:
        file = test.partition("::")[0]
        named[test] = f"{file} {counts[file] // most}"
        counts[file] += 1
    return named


def longest_first(
    units: Mapping[str, Mapping[str, bool]], seconds: Mapping[str, float]
) -> Iterable[tuple[str, dict[str, bool]]]:
    """Return groups of tests, the longest first, and in each its files, the longest first: they may share fixtures."""

    def long(tests: Iterable[str]) -> float:
        return sum(seconds.get(without_group(test), _SHORT) for test in tests)

    for name, tests in sorted(units.items(), key=lambda unit: -long(unit[1])):
        files: dict[str, list[str]] = defaultdict(list)
        for test in tests:
            files[test.partition("::")[0]].append(test)
        ordered = sorted(files.values(), key=lambda of_file: -long(of_file))
        yield name, {test: tests[test] for of_file in ordered for test in of_file}


def read(file: Path) -> dict[str, float]:
    """Return the seconds of the long tests."""
    return {test: float(seconds) for test, seconds in tomllib.loads(file.read_text())["seconds"].items()}


class Writer:
    """Writes how long tests took, in the process that hears of all of them."""

    def __init__(self, file: Path = FILE) -> None:
        self._file = file
        self._took: dict[str, float] = defaultdict(float)
        self._failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a phase."""
        test = without_group(report.nodeid)
        self._took[test] += report.duration
        if report.failed:
            self._failed.add(test)  # how long it waited in vain says nothing

    def pytest_sessionfinish(self) -> None:
        """Put what ran in the place of what is known of it."""
        took = {test: seconds for test, seconds in self._took.items() if test not in self._failed}
        known = {test: seconds for test, seconds in read(self._file).items() if test not in took}
        write(self._file, known | {test: seconds for test, seconds in took.items() if seconds >= LONG})


def write(file: Path, seconds: Mapping[str, float]) -> None:
    """Write the seconds of tests, the longest first."""
    ordered = sorted(seconds.items(), key=lambda pair: (-pair[1], pair[0]))
    lines = [f"{json.dumps(test, ensure_ascii=False)} = {took:.1f}\n" for test, took in ordered]
    file.write_text("".join([_HEAD, "\n[seconds]\n", *lines]))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--write-durations", action="store_true", help="write how long tests took: tests/durations.toml")


def pytest_configure(config: pytest.Config) -> None:
    """Write in the main process of xdist alone."""
    if config.getoption("--write-durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Writer(), "durations")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LongestFirst | None:
    """Hand out groups in our order."""
    return LongestFirst(config, log) if config.getvalue("dist") == "loadgroup" else None
