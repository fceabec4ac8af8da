"""The days of a briefing: as models name them, as cron has them, and which two share a day."""

import pytest

from abilities.briefing.days import days_of, read_days
from onevalet import ToolRetry


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ("every day", "*"),
        ("Weekdays", "1-5"),
        ("weekends", "0,6"),
        ("mon,thu", "1,4"),
        ("Monday and Thursday", "1,4"),
        ("mon-fri", "1,2,3,4,5"),
        ("fri-mon", "0,1,5,6"),
        ("sun, mon, tue, wed, thu, fri, sat", "*"),
    ],
)
def test_days_are_read_as_they_are_named(said: str, field: str) -> None:
    assert read_days(said) == field


@pytest.mark.parametrize("said", ["someday", "mon-xyz", ", ,"])
def test_days_that_nobody_knows_are_refused(said: str) -> None:
    with pytest.raises(ToolRetry, match="cannot tell which days"):
        read_days(said)


def test_a_field_is_the_set_of_its_days() -> None:
    assert days_of("1-5") == {1, 2, 3, 4, 5}
    assert days_of("0,6") == {0, 6}
    assert days_of("5-7") == {0, 5, 6}
    assert days_of("*") == days_of("mon#2") == frozenset(range(7))
    assert not days_of("1-5") & days_of("0,6")
