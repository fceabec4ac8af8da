"""Nothing of the promise tier is skipped: what may be is found by what it calls, and the tier has none of it."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest

from tests import needs
from tests.forker import ROOT
from tests.needs import need
from tests.skippable import skipping


def starts_it() -> str:
    return need("dovecot")


def asks_by_module() -> str:
    return needs.need("npm")


@contextmanager
def within() -> Any:
    yield [starts_it() for _ in range(1)]


class Server:
    """A server of others."""

    def start(self) -> None:
        """Start it, if this machine has it."""
        pytest.skip("it is not here")


def through_a_helper() -> None:
    with within():
        pass


def through_a_class() -> None:
    Server().start()


def looks() -> None:
    """It may go on without."""
    assert needs.find("dovecot") or "skip"


@pytest.mark.parametrize(
    ("test", "by"),
    [
        (starts_it, "starts_it"),
        (asks_by_module, "asks_by_module"),
        (through_a_helper, "starts_it"),
        (through_a_class, "Server.start"),
    ],
)
def test_what_may_be_skipped_is_found_by_what_it_calls(test: Callable[[], object], by: str) -> None:
    assert skipping([test]) == {f"{__name__}.{by}"}


def test_what_only_looks_for_a_program_is_not_skipped() -> None:
    assert skipping([looks]) == set()


@pytest.mark.slow
def test_no_test_of_the_promise_tier_may_be_skipped() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.skippable"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
