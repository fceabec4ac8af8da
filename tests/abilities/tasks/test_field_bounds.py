"""What the fields of a trigger may hold: the last value that may be, and the first that may not."""

from datetime import datetime

import pytest

from abilities.tasks.kinds.bounds import (
    MAX_COUNT,
    MAX_JSON,
    TriggerError,
    check_count,
    check_moment,
    check_number,
    check_object,
    check_size,
    check_text,
)
from core.json_types import Json


def nested(levels: int) -> dict[str, object]:
    """Return objects and lists in turn, so many within each other, around a number."""
    value: Json = 1
    for level in range(levels - 1):
        value = [value] if level % 2 else {"a": value}
    return {"a": value}


def test_a_text_is_taken_up_to_its_limit() -> None:
    check_text("cron", "x" * 10, 10)
    check_text("source", "x" * 10_000)
    for wrong in ("x" * 11, "a\x00b", 5, None, ["x"]):
        with pytest.raises(TriggerError):
            check_text("cron", wrong, 10)


def test_an_object_is_taken_up_to_its_size() -> None:
    check_size("filter", {"a": "x" * (MAX_JSON - len('{"a": ""}'))})
    with pytest.raises(TriggerError):
        check_size("filter", {"a": "x" * (MAX_JSON - len('{"a": ""}') + 1)})


def test_an_object_is_taken_up_to_its_depth() -> None:
    check_object("filter", nested(19))
    for wrong in (nested(20), nested(500), [1], "x", None, {"a": float("nan")}, {"a": {1, 2}}):
        with pytest.raises(TriggerError):
            check_object("filter", wrong)


def test_a_count_is_a_whole_number_within_its_bounds() -> None:
    for count in (None, 1, MAX_COUNT):
        check_count(count)
    for wrong in (0, MAX_COUNT + 1, True, 1.0, "1"):
        with pytest.raises(TriggerError):
            check_count(wrong)


def test_a_number_is_taken_with_both_of_its_bounds() -> None:
    for number in (1, 2.5, 3):
        check_number(number, 1, 3, "So not.")
    for wrong in (0.99, 3.01, True, "2", None, float("nan")):
        with pytest.raises(TriggerError, match=r"So not\."):
            check_number(wrong, 1, 3, "So not.")


def test_a_moment_is_taken_within_the_years_that_zones_can_hold() -> None:
    for moment in (None, datetime(1970, 1, 1), datetime(2199, 12, 31)):  # noqa: DTZ001 - wall times
        check_moment("at", moment)
    for wrong in (datetime(1969, 12, 31), datetime(2200, 1, 1), "2026-01-01"):  # noqa: DTZ001
        with pytest.raises(TriggerError):
            check_moment("at", wrong)
