"""Which lines and which tests are chosen."""

from pathlib import Path

import pytest

from tests.mutants import line_map
from tests.mutants.choice import MOST_SECONDS, choice_for, in_order
from tests.mutants.line_map import NO_TEST, KnownTest, LineMap, add
from tests.mutants.operators import Mutant
from tests.mutants.rooms import PURE, anywhere, of_pure_rooms, room_of, shares

PATH = "core/approvals/seal.py"
CHEAP, DEAR = (
    KnownTest("tests/jobs/test_a.py::test_cheap", 0.1, 0.1),
    KnownTest("tests/jobs/test_a.py::test_dear", 2.0, 2.0),
)
NEAR = KnownTest("tests/core/approvals/test_b.py::test_near", 0.3, 0.3)
FOLDERS = ["tests/core/approvals"]


def mutant(line: int) -> Mutant:
    return Mutant(PATH, line, range(line, line + 1), "", "", "")


@pytest.fixture
def known(tmp_path: Path) -> LineMap:
    add(tmp_path / "map", [(DEAR, {PATH: [20, 21]}), (CHEAP, {PATH: [20]}), (NEAR, {"core/ids.py": [1]})])
    add(tmp_path / "map", [(KnownTest(NO_TEST, 0, 0), {PATH: [21]}), (KnownTest(NO_TEST, 0, 0), {PATH: [22]})])
    return LineMap(tmp_path / "map")


def test_the_tests_of_a_line_are_those_that_ran_it_cheapest_first(known: LineMap) -> None:
    choice = choice_for(mutant(20), known, FOLDERS, None)
    assert (choice.tests, choice.ran, choice.anew) == ([CHEAP, DEAR], True, False)


def test_a_line_that_no_test_ran_has_those_of_the_mirrored_folder(known: LineMap) -> None:
    choice = choice_for(mutant(22), known, ["tests/core/approvals/deep"], None)
    assert (choice.tests, choice.ran, choice.anew) == ([NEAR], False, True)


def test_a_line_that_also_runs_at_import_is_tried_anew(known: LineMap) -> None:
    choice = choice_for(mutant(21), known, FOLDERS, None)
    assert (choice.tests, choice.anew) == ([DEAR], True)


def test_a_subset_has_only_its_own_tests(known: LineMap) -> None:
    assert choice_for(mutant(20), known, FOLDERS, frozenset({DEAR.name})).tests == [DEAR]
    assert choice_for(mutant(20), known, FOLDERS, frozenset()).tests == []


def test_of_a_changed_file_any_line_counts(known: LineMap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_map, "_digest", lambda file: "another")
    assert choice_for(mutant(99), known, FOLDERS, None).tests == [CHEAP, DEAR]
    assert known.changed() == [PATH, "core/ids.py"]


def test_cases_of_one_function_leave_room_for_others() -> None:
    cases = [KnownTest(f"tests/a/test_a.py::test_many[{number}]", 0.1, 0.1) for number in range(9)]
    other = KnownTest("tests/b/test_b.py::test_other", 0.2, 0.2)
    assert in_order([other, *cases], ("tests/c/",)) == [*cases[:5], other, *cases[5:]]
    assert in_order([other, *cases], ("tests/b/",))[0] == other


def test_what_costs_too_much_is_left_out_unless_it_is_all(known: LineMap, tmp_path: Path) -> None:
    huge = [KnownTest(f"tests/x/test_{name}.py::test_huge", MOST_SECONDS * 0.6, 1) for name in "ab"]
    add(tmp_path / "map", [(test, {PATH: [30]}) for test in huge])
    assert choice_for(mutant(30), LineMap(tmp_path / "map"), FOLDERS, None).tests == huge[:1]


def test_rooms_share_a_number_by_their_lines() -> None:
    assert shares({"a": 100, "b": 250, "c": 1}, 10) == {"a": 3, "b": 7, "c": 0}
    assert room_of("core/turns/store.py") == "core/turns"
    assert room_of("abilities/mail/tools.py") == "abilities/mail"
    assert (room_of("core/ids.py"), room_of("jobs/turns/runner.py")) == ("core", "jobs")


def test_the_same_seed_draws_the_same_lines() -> None:
    def drawn(seed: int) -> list[tuple[str, int, str]]:
        return [(one.mutant.path, one.mutant.line, one.mutant.after) for one in of_pure_rooms(PURE, 2, seed)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert {one.room for one in of_pure_rooms(PURE, 1, 1)} == set(PURE)


def test_lines_anywhere_come_from_many_rooms() -> None:
    chosen = anywhere(60, 1)
    assert len(chosen) == 60
    assert {"jobs", "onevalet", "core/turns", "abilities/memory"} <= {one.room for one in chosen}
