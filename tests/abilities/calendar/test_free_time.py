"""When a person is free: between what is in their calendars, within the hours of each day, and long enough."""

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from abilities.calendar.free_time import Span, free_spans

BERLIN = ZoneInfo("Europe/Berlin")
HOURS = (time(9), time(17))
WEDNESDAY = datetime(2026, 11, 25, tzinfo=BERLIN)


def at(hour: int, minute: int = 0, day: int = 25) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=BERLIN)


def free(busy: Sequence[Span], *, now: datetime = WEDNESDAY, days: int = 1, minutes: int = 60) -> list[str]:
    end = WEDNESDAY + timedelta(days=days)
    spans = free_spans(WEDNESDAY, end, HOURS, busy, timedelta(minutes=minutes), now)
    return [f"{first:%d %H:%M}-{last:%H:%M}" for first, last in spans]


@pytest.mark.parametrize(
    ("busy", "expected"),
    [
        ([], ["25 09:00-17:00"]),
        ([(at(11), at(12))], ["25 09:00-11:00", "25 12:00-17:00"]),
        ([(at(8), at(9, 30)), (at(16, 30), at(18))], ["25 09:30-16:30"]),
        ([(at(10), at(11)), (at(12), at(12, 30))], ["25 09:00-10:00", "25 11:00-12:00", "25 12:30-17:00"]),
        ([(at(9, 30), at(16, 30))], []),
        ([(at(7), at(9)), (at(17), at(18))], ["25 09:00-17:00"]),
        ([(at(0), at(23))], []),
    ],
)
def test_free_is_what_lies_between_and_is_long_enough(busy: Sequence[Span], expected: list[str]) -> None:
    assert free(busy) == expected


def test_a_day_that_has_begun_is_free_from_the_next_quarter_of_an_hour() -> None:
    assert free([], now=at(12, 1).astimezone(UTC)) == ["25 12:15-17:00"]
    assert free([], now=at(12, 15)) == ["25 12:15-17:00"]
    assert free([], now=at(16, 1)) == [], "less than the hour that is wanted is left"
    assert free([], now=at(16, 1), minutes=45) == ["25 16:15-17:00"]


def test_each_day_is_looked_at_and_the_last_is_not_passed() -> None:
    assert free([(at(0, day=26), at(23, day=26))], days=3) == ["25 09:00-17:00", "27 09:00-17:00"]
