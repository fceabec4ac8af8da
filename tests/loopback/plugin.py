"""A pytest plugin: the tests stay on this machine. One that would leave it fails, before anything is sent.

The tests' own process and every Python process that they start are watched, by `site/sitecustomize.py`.
"""

import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.loopback.site import sitecustomize as guard

SITE = Path(guard.__file__).parent
_PASSED_ON = ("PYTHONPATH", guard.RECORD)


def watched_environment() -> dict[str, str]:
    """Return what a Python process needs in its environment to be watched as well."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


def pytest_configure() -> None:
    """Watch this process, and those that it starts; each worker of a run has a record of its own."""
    handle, path = tempfile.mkstemp(prefix="onevalet-left-loopback-")
    os.close(handle)
    os.environ[guard.RECORD] = path
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != str(SITE)]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(SITE), *others])
    sys.addaudithook(guard.watch)


def pytest_unconfigure() -> None:
    """Remove the record."""
    Path(os.environ[guard.RECORD]).unlink(missing_ok=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail the test during which something tried to leave, however that was taken."""
    report = yield
    left = taken_from_record()
    if left and item.get_closest_marker("leaves_loopback") is None:
        report.outcome = "failed"
        report.longrepr = "\n".join(["This test, or a process of it, would have left this machine:", *left])
    return report


def taken_from_record() -> list[str]:
    """Return what tried to leave since the last call."""
    record = os.environ[guard.RECORD]
    try:
        if not os.stat(record).st_size:  # each test is asked three times
            return []
    except FileNotFoundError:
        return []
    left = Path(record).read_text(encoding="utf-8").splitlines()
    Path(record).write_text("", encoding="utf-8")
    return left
