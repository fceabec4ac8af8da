"""Find the tests of the promise tier that a machine without some program would skip: `bin/uv run -m tests.skippable`.

It collects the tier as if no program of others were there, runs nothing, and looks at what each test and its fixtures
call. A run of the tier fails what is skipped, but only where it is: this says it on a machine that has everything.
"""

import inspect
import io
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from types import CodeType, FunctionType, ModuleType

import pytest

_NEEDS = "tests.needs"


def main() -> None:
    """Print the tests; exit with 1 if there are any, or if the tier cannot be collected."""
    found = Skippable()
    told = io.StringIO()
    with tempfile.TemporaryDirectory() as empty, redirect_stdout(told):
        os.environ["PATH"] = empty
        ended = pytest.main(["-n0", "--collect-only", "-q", "-p", "no:cacheprovider"], plugins=[found])
    if ended:
        sys.stdout.write(told.getvalue())
    for line in found.lines:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{found.count} tests, {len(found.lines)} may be skipped\n")
    sys.exit(bool(ended or found.lines or not found.count))


class Skippable:
    """A pytest plugin: notes what may be skipped, and where."""

    def __init__(self) -> None:
        self.count = 0
        self.lines: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that skips itself."""
        if report.skipped:
            self.lines.append(f"{report.nodeid}: the whole file")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note tests; each by itself only if any may be skipped, since they call much of the same."""
        self.count = len(session.items)
        may_be = skipping(called for item in session.items for called in called_for(item))
        for item in session.items:
            ways = {name for name in ("needs", "skip", "skipif") if item.get_closest_marker(name)}
            if may_be:
                ways |= skipping(called_for(item))
            if ways:
                self.lines.append(f"{item.nodeid}: {', '.join(sorted(ways))}")


def called_for(item: pytest.Item) -> list[object]:
    """Return a test's function, and those of its fixtures."""
    if not isinstance(item, pytest.Function):
        return []
    made = item._fixtureinfo.name2fixturedefs.values()
    return [item.function, *(fixture.func for same in made for fixture in same)]


def skipping(begin: Iterable[object]) -> set[str]:
    """Return the names of the functions that skip, among these and what they call of the tests' own."""
    from tests.needs import need  # which pytest loads as a plugin, and first

    waiting, seen, found = [*begin], set[int](), set[str]()
    while waiting:
        value = waiting.pop()
        if isinstance(value, FunctionType):
            value = inspect.unwrap(value)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if inspect.isclass(value) and _is_ours(value):
            parts = vars(value).values()
            waiting += [getattr(part, "__func__", None) or getattr(part, "fget", None) or part for part in parts]
        elif isinstance(value, FunctionType) and _is_ours(value):
            names = set(_names(value.__code__))
            called = [value.__globals__[name] for name in names & value.__globals__.keys()]
            modules = [one for one in called if isinstance(one, ModuleType)]
            called += [vars(module)[name] for module in modules for name in names & vars(module).keys()]
            if {id(need), id(pytest.skip), id(pytest.importorskip)} & set(map(id, called)):
                found.add(f"{value.__module__}.{value.__qualname__}")
            waiting += [one for one in called if callable(one)]
    return found


def _is_ours(value: FunctionType | type) -> bool:
    return value.__module__.partition(".")[0] == "tests" and value.__module__ != _NEEDS


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that a function and those within it use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


if __name__ == "__main__":
    main()
