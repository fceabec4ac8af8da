"""How many examples the promise tier tries, what it does not read for them, and the full size of others."""

import subprocess
import sys

import pytest

from tests.forker import ROOT

_TRIED = """
import core.errors
from hypothesis import given, strategies
from hypothesis.internal.conjecture import providers
from tests.examples import be_patient, examples, sized

be_patient(promise_tier={promise_tier}, full={full})
tried = []

@examples(50)
@given(strategies.integers())
def few(number): tried.append(number)

few()
print(len(tried), bool(len(providers._get_local_constants())), sized(5, full=200))
"""


@pytest.mark.parametrize(
    ("promise_tier", "full", "said"),
    [(True, False, "10 False 5"), (False, False, "50 True 5"), (False, True, "50 True 200")],
)
@pytest.mark.whole("it starts a process")
def test_the_promise_tier_tries_a_fifth_and_reads_no_code(promise_tier: bool, full: bool, said: str) -> None:
    command = [sys.executable, "-c", _TRIED.format(promise_tier=promise_tier, full=full)]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert told.stdout.strip() == said
