"""A pytest plugin that writes down which tests failed: `--failures=FILE`, a line of JSON for each."""

import json
import re
from pathlib import Path

import pytest

from tests.by_chance.failures import Failure

_GROUP = re.compile(r"@[^\[\]]*$")
"""What xdist adds to the id of a test in a group: behind the brackets of its parameters, or its name."""


def without_group(nodeid: str) -> str:
    """Return a test's id as it is without xdist."""
    return _GROUP.sub("", nodeid)


class Writer:
    """Appends each failed phase of a test, in the process that hears of all of them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.write_text("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure with what the test printed."""
        if report.failed:
            printed = "\n".join([report.longreprtext, *(f"{name}\n{text}" for name, text in report.sections)])
            with self._path.open("a") as file:
                file.write(json.dumps(Failure(without_group(report.nodeid), printed).to_json()) + "\n")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--failures", metavar="FILE", help="write down the tests that failed")


def pytest_configure(config: pytest.Config) -> None:
    """Write in the main process of xdist alone."""
    path = config.getoption("--failures")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Writer(Path(path)), "failures")
