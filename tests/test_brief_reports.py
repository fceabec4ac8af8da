"""A worker tells of a test that passed once, of any other all, and names long values briefly."""

from typing import Any, Literal

import pytest

from tests.brief_reports import pytest_make_parametrize_id, told

type Outcome = Literal["passed", "failed", "skipped"]


def phases(**outcomes: Outcome) -> list[Any]:
    report: Any = pytest.TestReport
    return [
        report(
            *("tests/a.py::test", ("tests/a.py", 1, "test"), {"test": 1}, outcome, None, phase),
            sections=[("Captured stdout call", "a line")],
            duration=0.5,
        )
        for phase, outcome in outcomes.items()
    ]


def test_of_a_test_that_passed_one_report_tells_the_time_of_all_phases() -> None:
    [report] = told(phases(setup="passed", call="passed", teardown="passed"))
    assert (report.when, report.outcome, report.duration, report.sections) == ("call", "passed", 1.5, [])


@pytest.mark.parametrize(
    "outcomes",
    [
        {"setup": "passed", "call": "failed", "teardown": "passed"},
        {"setup": "passed", "call": "passed", "teardown": "failed"},
        {"setup": "failed", "teardown": "passed"},
        {"setup": "passed", "call": "skipped", "teardown": "passed"},
    ],
)
def test_of_any_other_all_is_told(outcomes: dict[str, Outcome]) -> None:
    reports = phases(**outcomes)
    assert told(reports) is reports
    assert all(report.sections for report in reports)


def test_a_test_that_was_expected_to_fail_is_told_wholly() -> None:
    reports = phases(setup="passed", call="passed", teardown="passed")
    reports[1].wasxfail = "reason"
    assert told(reports) is reports


@pytest.mark.parametrize("unit", ["a", "é", "\n", "\udc80", b"\xff"])
def test_a_long_value_has_a_short_name_of_its_own(unit: str | bytes) -> None:
    names = [pytest_make_parametrize_id(unit * length) for length in (200, 201, 1_000_000)]
    assert names[0] is None
    assert len({*names}) == 3
    assert all(name.isascii() and name.isprintable() and len(name) < 300 for name in names[1:] if name)
