"""A pytest plugin: it learns which lines of the product each test runs, in the test's own process.

`uv run pytest -p tests.mutants.lines` adds what it learns to `--lines FILE`; each process of xdist writes its own part.
"""

import resource
import sys
import time
from collections import defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from tests.mutants.line_map import MAP, NO_TEST, ROOMS, KnownTest, add
from tests.shipping.harness import ROOT

_EVENTS = sys.monitoring.events
_AT_ONCE = 100
"""Tests that are written together."""


class Recorder:
    """Notes the first run of each line since the note began. `tool` is its number among those that watch."""

    def __init__(self, tool: int = sys.monitoring.COVERAGE_ID) -> None:
        self._tool = tool
        self.ran: defaultdict[str, set[int]] = defaultdict(set)
        self._folders = tuple(f"{ROOT / room}/" for room in ROOMS)

    def start(self) -> None:
        """Begin to watch this process."""
        sys.monitoring.use_tool_id(self._tool, "mutants")
        sys.monitoring.register_callback(self._tool, _EVENTS.PY_START, self._function_began)
        sys.monitoring.register_callback(self._tool, _EVENTS.LINE, self._line_began)
        sys.monitoring.set_events(self._tool, _EVENTS.PY_START)

    def stop(self) -> None:
        """Watch no more."""
        sys.monitoring.set_events(self._tool, 0)
        sys.monitoring.free_tool_id(self._tool)

    def note(self, ran: defaultdict[str, set[int]]) -> defaultdict[str, set[int]]:
        """Write to another note from here on; return the one so far."""
        before, self.ran = self.ran, ran
        sys.monitoring.restart_events()
        return before

    def _function_began(self, code: CodeType, _: int) -> object:
        if code.co_filename.startswith(self._folders):
            sys.monitoring.set_local_events(self._tool, code, _EVENTS.LINE)
        return sys.monitoring.DISABLE

    def _line_began(self, code: CodeType, line: int) -> object:
        self.ran[code.co_filename].add(line)
        return sys.monitoring.DISABLE


class Learner:
    """Gives each test what it ran, with what the fixtures ran that it shares with its module."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._recorder = Recorder()
        self._outside = self._recorder.ran
        self._shared: dict[tuple[str, str], defaultdict[str, set[int]]] = {}
        self._learned: list[tuple[KnownTest, dict[str, set[int]]]] = []
        self._cpu, self._wall = 0.0, 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Begin before the first test module is imported."""
        self._recorder.start()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Note what a test runs."""
        self._cpu, self._wall = _cpu(), time.monotonic()
        self._recorder.note(defaultdict(set))
        try:
            return (yield)
        finally:
            ran = self._recorder.note(self._outside)
            # A module and a class are above the tests that share their fixtures.
            shared = [lines for (name, above), lines in self._shared.items() if _shares(item, name, above)]
            test = KnownTest(_id_of(item), _cpu() - self._cpu, time.monotonic() - self._wall)
            self._learned.append((test, _merged([ran, *shared])))
            if len(self._learned) >= _AT_ONCE:
                self._write()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: Any) -> Generator[None, object, object]:
        """Note what is set up for more than one test apart from the test that happens to be first."""
        if fixturedef.scope == "function":
            return (yield)
        began, wall = _cpu(), time.monotonic()
        is_whole = fixturedef.scope in ("session", "package")
        key = fixturedef.argname, request.node.nodeid
        before = self._recorder.note(self._outside if is_whole else self._shared.setdefault(key, defaultdict(set)))
        try:
            return (yield)
        finally:
            self._recorder.note(before)
            self._cpu += _cpu() - began
            self._wall += time.monotonic() - wall

    def pytest_sessionfinish(self) -> None:
        """Write the rest."""
        self._recorder.stop()
        self._learned.append((KnownTest(NO_TEST, 0.0, 0.0), _merged([self._outside])))
        self._write()

    def _write(self) -> None:
        add(self._path, self._learned)
        self._learned.clear()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--lines", default=MAP, metavar="FILE", help=f"where to add what was learned ({MAP})")


def pytest_configure(config: pytest.Config) -> None:
    """Learn in each process that runs tests."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Learner(ROOT / config.getoption("--lines")), "lines")


def _shares(item: pytest.Item, name: str, above: str) -> bool:
    return name in getattr(item, "fixturenames", ()) and item.nodeid.startswith(above)


def _merged(notes: Iterable[dict[str, set[int]]]) -> dict[str, set[int]]:
    merged: dict[str, set[int]] = {}
    for note in notes:
        for file, lines in list(note.items()):
            merged.setdefault(file.removeprefix(f"{ROOT}/"), set()).update(lines)
    return merged


def _id_of(item: pytest.Item) -> str:
    """Return a test's id as it is without xdist, which adds the name of its group."""
    group = item.get_closest_marker("xdist_group")
    return item.nodeid.removesuffix(f"@{group.args[0]}") if group and group.args else item.nodeid


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
