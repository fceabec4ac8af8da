"""A mutant in a copy of the tree: its tests notice it there, and the next order finds the original."""

import pytest

from tests.mutants.copies import NoTestsError, Pytest, copied
from tests.mutants.operators import Mutant
from tests.mutants.trying import Answer, Order
from tests.shipping.harness import read

PATH, TESTS = "core/approvals/seal.py", "tests/core/approvals/test_seal.py"
OPENS = f"{TESTS}::test_promise_9_a_seal_opens_to_all_that_it_covers"


def mutant(before: str, after: str) -> Mutant:
    source = read(PATH)
    assert before in source
    return Mutant(PATH, 1, range(1, 2), before, after, source.replace(before, after))


@pytest.mark.slow
def test_a_mutant_fails_in_its_copy_alone() -> None:
    wrong, unreadable = mutant('"tool": tool', '"mutated": tool'), mutant("import json", "import jsonn")
    original = read(PATH)
    with copied() as copy:
        with Pytest(copy, [TESTS]) as warm:
            assert OPENS in warm.tests
            with copy.holding(wrong):
                assert (copy.folder / PATH).read_text() == wrong.source
                assert warm.run(Order({OPENS: 0.1}, PATH, wrong.source)) == Answer(OPENS, "it fails")
            assert (copy.folder / PATH).read_text() == original
            assert warm.run(Order({OPENS: 0.1})) == Answer()
        with copy.holding(wrong), Pytest(copy, [TESTS]) as anew:
            assert anew.run(Order({OPENS: 0.1})) == Answer(OPENS, "it fails")
        with copy.holding(unreadable), pytest.raises(NoTestsError):
            Pytest(copy, [TESTS])
    assert read(PATH) == original
