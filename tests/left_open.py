"""A pytest plugin: a test that leaves an HTTP client session or a connection to Postgres open fails itself.

Else the library says so when the object is collected, which fails whichever test then runs. What a fixture of several
tests opens is that fixture's.
"""

import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import aiohttp
import asyncpg
import pytest

from tests.origins import Origin, origin, told

KINDS: dict[type, tuple[str, Callable[[Any], bool]]] = {
    aiohttp.ClientSession: ("client session", lambda session: session.closed),
    asyncpg.Connection: ("connection to Postgres", lambda connection: connection.is_closed()),
}
"""What is to be closed: its name, and whether one is."""

_open: "weakref.WeakKeyDictionary[Any, Origin]" = weakref.WeakKeyDictionary()
"""What a test opened, and where."""


class _Shared:
    """How many openings for several tests are under way."""

    count = 0


@contextmanager
def for_several_tests() -> Iterator[None]:
    """Leave out what the block opens."""
    _Shared.count += 1
    try:
        yield
    finally:
        _Shared.count -= 1


def pytest_configure() -> None:
    """Note where each is made."""
    for kind in KINDS:
        _note(kind)


def _note(kind: Any) -> None:
    begin = kind.__init__

    def noted(made: Any, *args: Any, **kwargs: Any) -> None:
        begin(made, *args, **kwargs)
        if not _Shared.count:
            _open[made] = origin(12)

    kind.__init__ = noted


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    """Leave out what is opened for several tests."""
    with nullcontext() if fixturedef.scope == "function" else for_several_tests():
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    """Fail a test of which something is still open once its fixtures have ended."""
    result = yield
    left = [
        (name, where)
        for made, where in [*_open.items()]
        for kind, (name, is_closed) in KINDS.items()
        if isinstance(made, kind) and not is_closed(made)
    ]
    _open.clear()
    if left:
        pytest.fail(f"{len(left)} left open; the first is a {left[0][0]}, made by\n{told(left[0][1])}", pytrace=False)
    return result
