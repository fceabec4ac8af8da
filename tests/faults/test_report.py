"""The report keeps what earlier runs measured, and says misses as misses."""

import json
from pathlib import Path

from tests.faults.checker import Finding
from tests.faults.report import NUMBERS, PAGE, Run, make_page
from tests.faults.results import Result


def result(name: str, *missed: str, broken: int = 0) -> Result:
    """One test's outcome."""
    finding = Finding("I1", "every text is one row", 9, broken, 2, ("m00001-p001: 0 rows",) if broken else ())
    return Result(name, "a fault", "a bar", 12.0, {"texts": "9"}, [finding], list(missed))


def run(number: int, *results: Result, page: Path) -> None:
    """Write what one run gave."""
    Run(f"run {number}", 0, began=f"2026-01-0{number}", commit=f"commit{number}").write(results, page / "r.json")


def test_a_later_run_replaces_its_own_tests_only(tmp_path: Path) -> None:
    run(1, result("T10"), result("T7", "3 texts lost"), page=tmp_path)
    run(2, result("T7"), page=tmp_path)
    page = (tmp_path / "r.md").read_text()
    assert page.index("| T7 | a fault") < page.index("| T10 | a fault")
    assert "3 texts lost" not in page
    assert "| T7 | a fault | a bar | met | 12 s | 2026-01-02, commit2 |" in page
    assert "| T10 | a fault | a bar | met | 12 s | 2026-01-01, commit1 |" in page


def test_a_run_of_which_nothing_is_left_is_forgotten(tmp_path: Path) -> None:
    run(1, result("T7"), page=tmp_path)
    run(2, result("T7"), page=tmp_path)
    assert [run["commit"] for run in json.loads((tmp_path / "r.json").read_text())["runs"].values()] == ["commit2"]
    assert "commit1" not in (tmp_path / "r.md").read_text()


def test_misses_and_broken_invariants_are_written_as_such(tmp_path: Path) -> None:
    run(1, result("T3", "work began again 9.0 s after a return", broken=1), page=tmp_path)
    page = (tmp_path / "r.md").read_text()
    assert "**missed**" in page
    assert "Missed: work began again 9.0 s after a return" in page
    assert "I1 broken: 1: m00001-p001: 0 rows." in page
    assert "| I1 | every text is one row | 9 | 1 | 2 |" in page
    assert "- **T3**: I1 unknown: 2; " in page


def test_a_part_that_the_machine_lacks_is_not_written_as_met(tmp_path: Path) -> None:
    left_out = result("T18")
    left_out.untested.append("the clock: faketime is not installed")
    run(1, left_out, result("T8"), page=tmp_path)
    page = (tmp_path / "r.md").read_text()
    assert "| T18 | a fault | a bar | **untested** |" in page
    assert "| T8 | a fault | a bar | met |" in page
    assert "Untested: the clock: faketime is not installed." in page


def test_an_invariant_is_on_the_page_once_with_the_sums(tmp_path: Path) -> None:
    run(1, result("T3", broken=1), result("T4"), page=tmp_path)
    assert "| I1 | every text is one row | 18 | 1 | 4 |" in (tmp_path / "r.md").read_text()


def test_figures_stay_in_the_numbers_and_doubts_are_on_the_page(tmp_path: Path) -> None:
    counted = result("T3")
    counted.numbers |= {"acknowledged": "p50 20 ms"}
    run(1, counted, page=tmp_path)
    assert "p50 20 ms" in (tmp_path / "r.json").read_text()
    page = (tmp_path / "r.md").read_text()
    assert "p50 20 ms" not in page
    assert page.endswith("## Missed, untested, broken or unknown\n\n- **T3**: I1 unknown: 2.\n")


def test_the_page_is_what_the_stored_numbers_make() -> None:
    assert PAGE.read_text(encoding="utf-8") == make_page(json.loads(NUMBERS.read_text(encoding="utf-8")))
