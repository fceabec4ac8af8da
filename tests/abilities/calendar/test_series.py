"""Series: moved, parted, changed for a day and left out, over changes of the clocks in several zones."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from abilities.calendar.ical.components import parsed
from core.children.child_job import Unreadable
from tests.abilities.calendar.samples import cancel, change, event, happens, new, walls
from tests.examples import examples

ZONES = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Asia/Kolkata",
    "Pacific/Apia",
]
WEEKLY = new("2026-10-12T09:00:00", "2026-10-12T10:00:00", rule="FREQ=WEEKLY;COUNT=4")


def shown(wall: datetime, zone: ZoneInfo) -> str:
    """Return what the clock shows then: in an hour that is left out, as many minutes later (RFC 5545, 3.3.5)."""
    return f"{wall.replace(tzinfo=zone).astimezone(UTC).astimezone(zone):%Y-%m-%d %H:%M}"


@example(zone="Europe/Berlin", first=date(2026, 1, 4), at=time(5), days=0, shift=-121)
@given(
    zone=st.sampled_from(ZONES),
    first=st.dates(date(2025, 1, 1), date(2027, 12, 31)),
    at=st.times(time(5), time(20)),
    days=st.integers(-30, 30),
    shift=st.integers(-4 * 60, 3 * 60),
)
@examples(40)
def test_the_clock_shows_the_same_over_every_change_of_it(
    zone: str, first: date, at: time, days: int, shift: int
) -> None:
    at = at.replace(second=0, microsecond=0)
    begins = datetime.combine(first, at)
    text = new(begins.isoformat(), (begins + timedelta(hours=1)).isoformat(), zone, "FREQ=WEEKLY;COUNT=30")
    there, span = ZoneInfo(zone), {"start": str(first - timedelta(60)), "end": str(first + timedelta(400))}
    expected = [begins + timedelta(weeks=number) for number in range(30)]
    assert walls(text, zone=there, **span) == [shown(one, there) for one in expected]
    moved = begins + timedelta(days=days, minutes=shift)
    [changed] = change(
        text, happens(text, zone=there, **span)[0]["recurrence"], "all", start=moved.isoformat(), zone=zone
    )
    by = moved - begins
    assert walls(changed, zone=there, **span) == [shown(one + by, there) for one in expected]


@given(zone=st.sampled_from(ZONES), seen_in=st.sampled_from(ZONES), day=st.dates(date(2026, 1, 1), date(2027, 12, 1)))
@examples(30)
def test_a_meeting_moved_from_another_zone_is_then_when_it_was_said(zone: str, seen_in: str, day: date) -> None:
    text = new(f"{day}T09:00:00", f"{day}T10:30:00", zone)
    wanted = datetime.combine(day + timedelta(days=10), time(15))
    [changed] = change(text, start=wanted.isoformat(), zone=seen_in)
    span = {"start": str(day - timedelta(5)), "end": str(day + timedelta(20))}
    [one] = happens(changed, zone=ZoneInfo(seen_in), **span)
    assert walls(changed, zone=ZoneInfo(seen_in), **span) == [f"{wanted:%Y-%m-%d %H:%M}"]
    assert one["zone"] == zone, "it stays in its own zone"


def test_one_day_of_a_series_is_moved_alone() -> None:
    second = happens(WEEKLY)[1]["recurrence"]
    [text] = change(WEEKLY, second, "this", start="2026-10-27T11:30:00")
    assert walls(text) == ["2026-10-12 09:00", "2026-10-26 09:00", "2026-10-27 11:30", "2026-11-02 09:00"]
    assert [one["end"] for one in happens(text)][2] == "2026-10-27T11:30:00+00:00", "it lasts as long as before"
    [again] = change(text, second, "this", title="Late standup")
    assert [one["title"] for one in happens(again)] == ["Standup", "Standup", "Late standup", "Standup"]


def test_from_a_day_on_a_series_is_another_one() -> None:
    third = happens(WEEKLY)[2]["recurrence"]
    [moved] = change(WEEKLY, happens(WEEKLY)[3]["recurrence"], "this", title="Special")
    before, after = change(moved, third, "following", start="2026-10-26T14:00:00")
    assert walls(before) == ["2026-10-12 09:00", "2026-10-19 09:00"]
    assert walls(after) == ["2026-10-26 14:00", "2026-11-02 14:00"]
    assert [one["title"] for one in happens(after)] == ["Standup", "Special"]
    assert {one["uid"] for one in happens(before, after)} == {"one", "two"}


def test_from_the_first_day_on_is_all_of_it() -> None:
    [text] = change(WEEKLY, happens(WEEKLY)[0]["recurrence"], "following", title="Sync")
    assert [one["title"] for one in happens(text)] == ["Sync"] * 4


def test_days_that_are_left_out_stay_so_when_a_series_moves() -> None:
    text = cancel(WEEKLY, happens(WEEKLY)[1]["recurrence"])
    assert walls(text) == ["2026-10-12 09:00", "2026-10-26 09:00", "2026-11-02 09:00"]
    assert walls(cancel(text, happens(WEEKLY)[1]["recurrence"])) == walls(text), "twice is once"
    [moved] = change(text, happens(text)[1]["recurrence"], start="2026-10-26T10:00:00")
    assert walls(moved) == ["2026-10-12 10:00", "2026-10-26 10:00", "2026-11-02 10:00"]
    ended = cancel(moved, happens(moved)[2]["recurrence"], "following")
    assert walls(ended) == ["2026-10-12 10:00", "2026-10-26 10:00"]


def test_the_days_of_a_rule_move_along() -> None:
    text = new("2026-10-12T09:00:00", "2026-10-12T10:00:00", rule="FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20261022T220000Z")
    [moved] = change(text, happens(text)[0]["recurrence"], start="2026-10-13T09:00:00")
    assert walls(moved) == ["2026-10-13 09:00", "2026-10-15 09:00", "2026-10-20 09:00", "2026-10-22 09:00"]


def test_a_rule_that_cannot_be_said_of_other_days_is_left_alone() -> None:
    text = new("2026-10-12T09:00:00", "2026-10-12T10:00:00", rule="FREQ=MONTHLY;BYDAY=2MO;COUNT=3")
    with pytest.raises(Unreadable, match="series_days"):
        change(text, happens(text)[0]["recurrence"], start="2026-10-13T09:00:00")
    [later] = change(text, happens(text)[0]["recurrence"], start="2026-10-12T11:00:00")
    assert walls(later) == ["2026-10-12 11:00", "2026-11-09 11:00", "2026-12-14 11:00"]


def test_whole_days_stay_whole_days() -> None:
    text = new("2026-12-24", "2026-12-27")
    assert walls(text) == ["2026-12-24"]
    [moved] = change(text, start="2026-12-30")
    [one] = happens(moved)
    assert (one["start"], one["end"]) == ("2026-12-30", "2027-01-02")
    [timed] = change(text, start="2026-12-30T18:00:00")
    [one] = happens(timed)
    assert (one["start"], one["end"]) == ("2026-12-30T17:00:00+00:00", "2026-12-30T18:00:00+00:00")
    yearly = new("2026-03-01", "2026-03-02", rule="FREQ=YEARLY;COUNT=2")
    assert walls(yearly) == ["2026-03-01", "2027-03-01"]
    with pytest.raises(Unreadable, match="series_kind"):
        change(yearly, happens(yearly)[0]["recurrence"], start="2026-03-01T10:00:00")


def test_series_of_other_programs_keep_their_zones() -> None:
    own_zone = (
        "BEGIN:VTIMEZONE\r\nTZID:Own\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0500\r\n"
        "TZOFFSETTO:+0500\r\nTZNAME:X\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
    )
    text = event("DTSTART;TZID=Own:20261012T130000", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=2", "SUMMARY:X")
    text = text.replace("BEGIN:VEVENT", f"{own_zone}BEGIN:VEVENT")
    assert walls(text) == ["2026-10-12 10:00", "2026-10-13 10:00"]
    [moved] = change(text, happens(text)[1]["recurrence"], "this", start="2026-10-13T11:00:00")
    assert walls(moved) == ["2026-10-12 10:00", "2026-10-13 11:00"]
    assert "DTSTART;TZID=Own:20261013T140000" in moved
    for line, at in (("DTSTART:20261012T080000Z", "10:00"), ("DTSTART:20261012T080000", "08:00")):
        plain = event(line, "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=2")
        assert walls(plain) == [f"2026-10-12 {at}", f"2026-10-13 {at}"]
        [moved] = change(plain, happens(plain)[0]["recurrence"], start="2026-10-12T15:00:00")
        assert walls(moved) == ["2026-10-12 15:00", "2026-10-13 15:00"]


def test_each_change_counts_and_names_its_call() -> None:
    [text] = change(WEEKLY, title="A")
    [again] = change(text, title="B", key="k9")
    [master] = parsed(again).events
    assert (str(master["SEQUENCE"]), str(master["X-ONEVALET-KEY"])) == ("2", "k9")
    assert happens(again)[0]["key"] == "k9"


def test_words_cannot_break_out_of_their_line() -> None:
    text = new("2026-10-12T09:00:00", "2026-10-12T10:00:00", title="A\r\nATTENDEE:mailto:x@y.z\u2028B", text="a\nb")
    [one] = happens(text)
    assert (one["title"], one["text"], one["guests"]) == ("A ATTENDEE:mailto:x@y.z B", "a\nb", [])
