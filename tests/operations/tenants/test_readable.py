"""Tasks as a calendar and people as contacts, read by others' programs."""

from datetime import UTC, datetime

import pytest
from icalendar import Calendar

from operations.tenants.readable import Contact, PlannedTask, as_calendar, as_contacts, recurrence

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_a_calendar_reads_tasks_with_their_rhythm_and_zone() -> None:
    tasks = [
        PlannedTask("t1", "Bins; out, please", NOW, "Europe/Lisbon", "0 8 * * 1-5"),
        PlannedTask("t2", "Dentist", NOW),
        PlannedTask("t3", "Odd", NOW, "Europe/Lisbon", "*/7 8-10 * * *"),
    ]
    bins, dentist, odd = Calendar.from_ical(as_calendar(tasks, NOW)).events
    assert str(bins["SUMMARY"]) == "Bins; out, please"
    assert bins["RRULE"] == {"FREQ": ["WEEKLY"], "BYDAY": ["MO", "TU", "WE", "TH", "FR"]}
    assert str(bins.start) == "2026-05-01 13:00:00+01:00"
    assert dentist.start == odd.start == NOW
    assert "RRULE" not in odd


@pytest.mark.parametrize(
    ("cron", "rule"),
    [
        ("30 7 * * *", {"freq": "daily"}),
        ("0 9 * * 0,6", {"freq": "weekly", "byday": ["SU", "SA"]}),
        ("0 9 * * 5-7", {"freq": "weekly", "byday": ["FR", "SA", "SU"]}),
        ("0 9 15 * *", {"freq": "monthly", "bymonthday": 15}),
        ("0 9 15 * 1", None),
        ("0 9 1 1 *", None),
        ("", None),
    ],
)
def test_a_rhythm_that_calendars_know_recurs(cron: str, rule: object) -> None:
    assert recurrence(cron) == rule


def test_contacts_are_escaped_and_folded_cards() -> None:
    long = "Ü" * 60
    cards = as_contacts([Contact("c1", "sms", "+15550001", f"Müller, {long}"), Contact("c2", "slack", "U1")]).decode()
    assert "FN:Müller\\, Ü" in cards
    assert cards.replace("\r\n ", "").count(long) == 1
    assert max(len(line.encode()) for line in cards.split("\r\n")) <= 75
    assert "TEL;VALUE=text:+15550001" in cards
    assert "FN:U1\r\nIMPP:x-slack:U1\r\nEND:VCARD" in cards
