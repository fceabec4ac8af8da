"""A pytest plugin: the workers of xdist tell little of what passed.

Its main process deals with each message one after the other, and a worker spends as long to send it. So a test that
passed is one report in place of five messages, without what it printed and logged, and the name of a test is short,
however long its values are.
"""

import zlib
from collections.abc import Sequence

import pytest
from _pytest.runner import runtestprotocol

_LONGEST = 200
"""How many characters of a value the name of a test may hold."""


class Worker:
    """Runs the tests in a worker, in the place of pytest's own protocol."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test, and then report its phases."""
        for report in told(runtestprotocol(item, log=False, nextitem=nextitem)):
            item.ihook.pytest_runtest_logreport(report=report)
        return True


def told(reports: Sequence[pytest.TestReport]) -> Sequence[pytest.TestReport]:
    """Return the reports of a test as they are sent: of one that passed its call alone, with the time of all phases."""
    if not all(report.outcome == "passed" and not hasattr(report, "wasxfail") for report in reports):
        return reports
    call = next(report for report in reports if report.when == "call")
    call.duration = sum(report.duration for report in reports)
    call.sections, call.keywords = [], {}
    return [call]


def pytest_configure(config: pytest.Config) -> None:
    """Be brief in the workers."""
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Worker(), "brief_reports")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Return the name of a long value: its beginning, and a sum by which it differs from others."""
    if not isinstance(val, str | bytes) or len(val) <= _LONGEST:
        return None
    whole = val.encode("utf-8", "surrogatepass") if isinstance(val, str) else val
    return f"{val[:40]!a} {len(val)} {zlib.crc32(whole):08x}"
