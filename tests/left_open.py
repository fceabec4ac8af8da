"""A pytest plugin: a test that leaves an HTTP client session open fails itself.

Else aiohttp says so when the session is collected, which fails whichever test then runs. What a fixture of several
tests opens is that fixture's.
"""

import traceback
import weakref
from collections.abc import Generator
from typing import Any

import aiohttp
import pytest

_open: "weakref.WeakKeyDictionary[aiohttp.ClientSession, str]" = weakref.WeakKeyDictionary()
"""Sessions that a test began, and where."""
_begin = aiohttp.ClientSession.__init__


class _Shared:
    """How many fixtures of several tests are being set up."""

    count = 0


def pytest_configure() -> None:
    """Note where each session is made."""

    def noted(session: aiohttp.ClientSession, *args: Any, **kwargs: Any) -> None:
        _begin(session, *args, **kwargs)
        if not _Shared.count:
            _open[session] = "".join(traceback.format_stack(limit=8)[:-1])

    setattr(aiohttp.ClientSession, "__init__", noted)  # noqa: B010 - its type has every parameter


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    """Leave out what is opened for several tests."""
    is_shared = fixturedef.scope != "function"
    _Shared.count += is_shared
    try:
        return (yield)
    finally:
        _Shared.count -= is_shared


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    """Fail a test whose sessions are still open once its fixtures have ended."""
    result = yield
    left = [where for session, where in [*_open.items()] if not session.closed]
    _open.clear()
    if left:
        pytest.fail(f"{len(left)} client sessions were left open, the first by\n{left[0]}", pytrace=False)
    return result
