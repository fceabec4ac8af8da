"""How many examples the promise tier tries, and what it does not read for them."""

import subprocess
import sys

import pytest

from tests.forker import ROOT

_TRIED = """
import core.errors
from hypothesis import given, strategies
from hypothesis.internal.conjecture import providers
from tests.examples import be_patient, examples

be_patient(promise_tier={promise_tier})
tried = []

@examples(50)
@given(strategies.integers())
def few(number): tried.append(number)

few()
print(len(tried), bool(len(providers._get_local_constants())))
"""


@pytest.mark.parametrize(("promise_tier", "said"), [(True, "10 False"), (False, "50 True")])
@pytest.mark.whole("it starts a process")
def test_the_promise_tier_tries_a_fifth_and_reads_no_code(promise_tier: bool, said: str) -> None:
    command = [sys.executable, "-c", _TRIED.format(promise_tier=promise_tier)]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert told.stdout.strip() == said
