"""The tests that could notice a mutant, the cheapest first."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.mutants.line_map import NO_TEST, KnownTest, LineMap
from tests.mutants.operators import Mutant

MOST_TESTS = 400
MOST_SECONDS = 30.0
"""CPU of all tests of one mutant, as they took it when the map was made."""
_OF_ONE_FUNCTION = 5
"""Cases of one function of tests that are run before other functions have had their turn."""
_NEARER = 4
"""A test of the mirrored folder may cost so many times what another costs."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Tests in the order in which they run. `ran`: they run the line, and are not only its neighbours.

    `anew`: the line also runs at import, so a new process has to import the mutant.
    """

    tests: Sequence[KnownTest]
    ran: bool
    anew: bool


def choice_for(mutant: Mutant, known: LineMap, folders: Iterable[str], only: frozenset[str] | None) -> Choice:
    """Choose tests by the lines that they run; those of the mirrored folder where no test runs the line.

    What runs only in processes that tests start, or at import, is run by no test. `only` are all that may be chosen.
    """
    near = tuple(f"{folder.rstrip('/')}/" for folder in folders)
    ran = known.running(mutant.path, [mutant.line]) or known.running(mutant.path, mutant.lines)
    running = [test for test in ran if test.name != NO_TEST]
    tests = running or _mirrored(known.tests, near)
    allowed = [test for test in tests if only is None or test.name in only]
    return Choice(_within_limits(in_order(allowed, near)), ran=bool(running), anew=len(running) < len(ran))


def in_order(tests: Iterable[KnownTest], near: tuple[str, ...]) -> list[KnownTest]:
    """Order tests by cost; of one function, a few cases come before those of others, and the rest after."""
    cases = Counter[str]()
    rounds = list[tuple[int, float, KnownTest]]()
    for test in sorted(tests, key=lambda test: (test.cpu, test.name)):
        function = test.name.partition("[")[0]
        cost = test.cpu / (_NEARER if test.name.startswith(near) else 1)
        rounds.append((cases[function] // _OF_ONE_FUNCTION, cost, test))
        cases[function] += 1
    return [test for _, _, test in sorted(rounds, key=lambda one: (one[0], one[1], one[2].name))]


def _mirrored(tests: Sequence[KnownTest], near: tuple[str, ...]) -> list[KnownTest]:
    """Return the tests of the nearest folder that has any, from the mirrored one up to its room's."""
    for folder in near:
        while folder.count("/") >= 2:
            if found := [test for test in tests if test.name.startswith(folder)]:
                return found
            folder = folder.rstrip("/").rpartition("/")[0] + "/"
    return []


def _within_limits(tests: Iterable[KnownTest]) -> list[KnownTest]:
    chosen, seconds = list[KnownTest](), 0.0
    for test in tests:
        if len(chosen) < MOST_TESTS and seconds + test.cpu <= MOST_SECONDS:
            chosen.append(test)
            seconds += test.cpu
    return chosen or list(tests)[:1]
