"""A pytest plugin: programs of others that some tests need, and what to type where one is missing.

`@pytest.mark.needs("promtool")` skips a test where the program is missing, and fails it in CI. Nothing in the promise
tier needs one (`tests/tiers.py`).
"""

import os
import shutil

import pytest

_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/lib/dovecot"
"""Servers lie where an ordinary user's PATH does not lead."""
PACKAGES = {
    "caddy": "caddy",
    "chromium-headless-shell": "chromium-headless-shell",
    "docker-compose": "docker-compose",
    "dovecot": "dovecot-imapd",
    "nginx": "nginx",
    "pgbouncer": "pgbouncer",
    "promtool": "prometheus",
    "systemd-analyze": "systemd",
}
"""Each program and Debian's package of it."""
OPTIONAL = {"caddy", "nginx"}
"""Proxies, whose tests run where somebody has one: CI has neither."""


def need(name: str) -> str:
    """Return the path of a program. Skip the test where it is missing; in CI, fail it."""
    found = find(name)
    if found is not None:
        return found
    reason = f"{name} is missing: apt-get install {PACKAGES[name]}"
    if os.environ.get("CI") and name not in OPTIONAL:
        pytest.fail(reason)
    pytest.skip(reason)


def find(name: str) -> str | None:
    """Return the path of a program, None where it is missing."""
    return shutil.which(name, path=_PATH)


def missing() -> list[str]:
    """Return the names of the packages that would let more tests run."""
    return sorted(PACKAGES[name] for name in PACKAGES if find(name) is None and name not in OPTIONAL)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for what a test says it needs."""
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            need(name)
