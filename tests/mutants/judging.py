"""What the tests say of each mutant."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread

from tests.mutants.choice import Choice, choice_for
from tests.mutants.copies import Copy, NoTestsError, Pytest, copied, files_of
from tests.mutants.line_map import KnownTest, LineMap
from tests.mutants.operators import Mutant
from tests.mutants.rooms import Chosen
from tests.mutants.trying import Answer, Order


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant: the test that noticed it (empty: none did), how, and whether it is of the subset."""

    case: "Case"
    noticed_by: str = ""
    how: str = ""
    by_subset: bool = False

    @property
    def chosen(self) -> Chosen:
        return self.case.chosen


@dataclass(frozen=True, slots=True)
class Case:
    """A mutant with its tests: those of the subset, which go first, and all."""

    chosen: Chosen
    subset: Choice
    whole: Choice

    @property
    def rest(self) -> list[KnownTest]:
        return [test for test in self.whole.tests if test not in self.subset.tests]

    @property
    def tests(self) -> list[KnownTest]:
        return [*self.subset.tests, *self.rest]


class Judge:
    """Tries mutants in one copy of the tree."""

    def __init__(self, copy: Copy, files: Sequence[str]) -> None:
        self._copy = copy
        self._pytest = Pytest(copy, files)
        self._sound: set[str] = set()
        self._unsound: set[str] = set()

    def verdict(self, case: Case) -> Verdict:
        """Run a mutant's tests until one fails that passes without it; those of the subset go first."""
        for tests, is_subset in ((case.subset.tests, True), (case.rest, False)):
            answer = self._first_failure(case, tests)
            if answer.failed:
                return Verdict(case, answer.failed, answer.how, is_subset)
        return Verdict(case)

    def _first_failure(self, case: Case, tests: Sequence[KnownTest]) -> Answer:
        left = {test.name: test.wall for test in tests if test.name in self._pytest.tests}
        while left := {name: wall for name, wall in left.items() if name not in self._unsound}:
            answer = self._answer(case, left)
            if answer.failed not in left or self._is_sound(answer.failed, left):
                return answer
        return Answer()

    def close(self) -> None:
        """End the pytest."""
        self._pytest.close()

    def _answer(self, case: Case, tests: dict[str, float]) -> Answer:
        mutant = case.chosen.mutant
        with self._copy.holding(mutant):
            if not case.whole.anew:
                answer = self._pytest.run(Order(tests, mutant.path, mutant.source))
                if not answer.anew:
                    return answer
            try:
                with Pytest(self._copy, files_of(tests)) as anew:
                    return anew.run(Order(tests))
            except NoTestsError:
                return Answer("collecting", "it cannot be imported")

    def _is_sound(self, name: str, took: dict[str, float]) -> bool:
        """Return whether a test passes without any mutant."""
        if name not in self._sound | self._unsound:
            passes = not self._pytest.run(Order({name: took[name]})).failed
            (self._sound if passes else self._unsound).add(name)
        return name in self._sound


def cases_of(chosen: Sequence[Chosen], known: LineMap, only: frozenset[str] | None) -> list[Case]:
    """Choose the tests of each mutant."""
    none = Choice([], ran=False, anew=False)
    return [
        Case(
            one,
            none if only is None else choice_for(one.mutant, known, one.tests, only),
            choice_for(one.mutant, known, one.tests, None),
        )
        for one in chosen
    ]


def judged(cases: Sequence[Case], jobs: int, told: Callable[[Verdict], None]) -> list[Verdict]:
    """Try mutants in several copies side by side; `told` hears of each."""
    waiting: SimpleQueue[Case] = SimpleQueue()
    for case in cases:
        waiting.put(case)
    verdicts: list[Verdict] = []
    troubles: list[BaseException] = []
    files = files_of(test.name for case in cases for test in case.tests)

    def heard(verdict: Verdict) -> None:
        verdicts.append(verdict)
        told(verdict)

    def work() -> None:
        try:
            with copied() as copy:
                _work(Judge(copy, files), waiting, heard)
        except BaseException as error:
            troubles.append(error)

    threads = [Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if troubles:
        raise troubles[0]
    order = {id(case.chosen): number for number, case in enumerate(cases)}
    return sorted(verdicts, key=lambda verdict: order[id(verdict.chosen)])


def _work(judge: Judge, waiting: "SimpleQueue[Case]", told: Callable[[Verdict], object]) -> None:
    try:
        while True:
            try:
                case = waiting.get_nowait()
            except Empty:
                return
            told(judge.verdict(case))
    finally:
        judge.close()


def where(mutant: Mutant) -> str:
    """Return file and line of a mutant."""
    return f"{mutant.path}:{mutant.line}"
