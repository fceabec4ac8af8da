"""A pytest plugin: no test's log may hold a secret, a number or a text of anybody's (promise 14).

Every fixture has canaries: the emulated providers' secrets and people's numbers, and marked texts. What a test logs is
searched for them, whatever the test is about; one that logs a canary fails. Lines that are no log are let be: a
command may print a number to who asked for it.
"""

import re
from collections.abc import Generator

import pytest

from tests.contract import canaries
from workbench.simulator.config import SimulatorConfig

_LOG_LINE = re.compile(r"(\x1b\[[0-9;]*m)*(20[0-9]{2}-[0-9]{2}-[0-9]{2}[T ]|\{\")")
_LET_BE = re.compile(r"[A-Z]+ +(aiohttp\.access|somebody):")
"""The access log of the emulated providers, and what tests of this watch write on purpose."""
_OTHERS = (
    *("+15550000001", "+15550000002", "+15550009999"),  # tests/core/harness.py
    "8f742231b10e8888abcd99yyyzzz85a5",  # tests/channels/slack/builders.py
    "xoxb-secret-bot-token",
    "hunter2",
)


def planted() -> frozenset[str]:
    """Return all canaries, numbers also without their plus."""
    world = SimulatorConfig()
    secrets = (world.twilio.auth_token, world.slack.bot_token, world.slack.app_token, world.slack.signing_secret)
    numbers = (world.twilio.number, *(person.phone for person in world.people))
    known = (*canaries.CANARIES, *secrets, world.telegram.bot_token, *numbers, *_OTHERS)
    return frozenset(shape for value in known if value for shape in (value, value.lstrip("+")))


def leaks(report: pytest.TestReport) -> list[str]:
    """Return the lines that this phase of a test logged and that hold a canary."""
    leaking = []
    for name, content in report.sections:
        if name.endswith(f" {report.when}"):  # the sections of earlier phases are here too
            logged = name.startswith("Captured log")
            lines = (line for line in content.splitlines() if logged or _LOG_LINE.match(line))
            leaking += [line for line in lines if any(value in line for value in _PLANTED) and not _LET_BE.match(line)]
    return leaking


_PLANTED = planted()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail the phase of a test that logged a canary."""
    report = yield
    if report.outcome == "passed" and (leaking := leaks(report)):
        report.outcome = "failed"
        report.longrepr = "\n".join(["These lines of the log hold what none may hold:", *leaking[:10]])
    return report
