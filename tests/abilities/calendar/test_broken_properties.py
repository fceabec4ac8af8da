"""Events and files as other programs write them: what can be read is read, and one bad property costs itself alone."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from abilities.calendar.objects import expand, read_event_file
from core.errors import ToolFailed
from tests.abilities.calendar.samples import event

BERLIN = ZoneInfo("Europe/Berlin")
SUNDAY = datetime(2026, 11, 22, tzinfo=BERLIN)
TIMES = ("DTSTART;TZID=Europe/Berlin:20261122T100000", "DTEND;TZID=Europe/Berlin:20261122T110000")
GOOD = event("DTSTART:20261122T120000Z", "DTEND:20261122T130000Z", "SUMMARY:Dentist", uid="good")

HOW_OFTEN = [
    "RRULE:FREQ=WEEKLY;BYDAY=TU,",
    "RRULE:FREQ=WEEKLY;BYDAY=XX",
    "RRULE:FREQ=WEEKLY;BYDAY=1,MO",
    "RRULE:FREQ=FORTNIGHTLY",
    "RRULE:FREQ=DAILY;COUNT=many",
    "RRULE:FREQ=DAILY;UNTIL=never",
    "RRULE:FREQ=DAILY;UNTIL=",
    "RRULE:FREQ=DAILY;WKST=",
    "RRULE:FREQ=WEEKLY\r\nRRULE:",
    "RRULE:",
    "RRULE:INTERVAL=2",
    "RRULE:FREQ=DAILY\r\nEXDATE:soon",
    "RDATE:x",
    "EXRULE:FREQ=SOMETIMES",
]
"""What says how often an event comes, and cannot be read: the event is shown once, which is said."""
OTHERS = [
    "DTEND:late",
    "DURATION:long",
    "SEQUENCE:x",
    "GEO:here",
    "PRIORITY:high",
    "DTSTAMP:x",
    "LAST-MODIFIED:x",
    "CREATED:",
    "STATUS:",
    "TRANSP:",
    "ORGANIZER:",
    "ATTENDEE:",
    "CATEGORIES:",
    "URL:",
    "X-APPLE-STRUCTURED-LOCATION;VALUE=URI:geo:",
    "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:never\r\nEND:VALARM",
    "BEGIN:VALARM\r\nEND:VALARM",
]
"""What else may be broken, or empty."""


async def seen(*texts: str, days: int = 1) -> tuple[list[str], frozenset[int], frozenset[int]]:
    """Return the titles of what happens, and which objects cannot be read, or come once."""
    told = await expand([*texts, GOOD], SUNDAY, SUNDAY + timedelta(days=days), BERLIN)
    return [one.title for _, one in told.found], told.unread, told.once


@pytest.mark.parametrize("line", HOW_OFTEN)
async def test_a_recurrence_that_cannot_be_read_costs_itself_alone(line: str) -> None:
    assert await seen(event(*TIMES, "SUMMARY:Odd", line), days=30) == (["Odd", "Dentist"], frozenset(), frozenset({0}))


@pytest.mark.parametrize("line", OTHERS)
async def test_any_other_property_that_cannot_be_read_costs_itself_alone(line: str) -> None:
    start = TIMES[:1] if line.startswith(("DTEND", "DURATION")) else TIMES
    text = event(*start, "SUMMARY:Odd", "RRULE:FREQ=DAILY;COUNT=2", line)
    assert await seen(text, days=2) == (["Odd", "Dentist", "Odd"], frozenset(), frozenset())


async def test_an_event_without_a_start_that_can_be_read_costs_itself_alone() -> None:
    assert await seen(event("DTSTART:soon", "SUMMARY:Odd")) == (["Dentist"], frozenset({0}), frozenset())


async def titles(text: str) -> list[str]:
    """Return the titles in a file."""
    return [one.occurrence.title for one in (await read_event_file(text, BERLIN, frozenset(), "k")).events]


@pytest.mark.parametrize("line", OTHERS)
async def test_a_file_keeps_an_event_with_a_property_that_cannot_be_read(line: str) -> None:
    start = TIMES[:1] if line.startswith(("DTEND", "DURATION")) else TIMES
    assert await titles(event(*start, "SUMMARY:Odd", line)) == ["Odd"]


@pytest.mark.parametrize("line", HOW_OFTEN)
async def test_a_file_keeps_its_other_events_where_a_series_cannot_be_read(line: str) -> None:
    odd = event(*TIMES, "SUMMARY:Odd", line)
    read = await read_event_file(odd + GOOD, BERLIN, frozenset(), "k")
    assert ([one.occurrence.title for one in read.events], read.left_out) == (["Dentist"], 1)


async def test_forms_of_files_that_programs_write() -> None:
    two = GOOD.replace("END:VCALENDAR\r\n", "") + event(*TIMES, "SUMMARY:Lunch").partition("PRODID:-//test//EN\r\n")[2]
    no_id = event(*TIMES, "SUMMARY:Lunch").replace("UID:one\r\n", "")
    assert await titles(f"\ufeff{GOOD}") == ["Dentist"], "a mark at the beginning"
    assert await titles(GOOD + event(*TIMES, "SUMMARY:Lunch")) == ["Dentist", "Lunch"], "several calendars"
    assert await titles(no_id) == ["Lunch"], "no id"
    assert await titles(two.replace("UID:good", "UID:one")) == ["Dentist", "Lunch"], "one id for all"
    assert await titles(GOOD.replace("\r\n", "\n")) == ["Dentist"], "lines as Unix ends them"
    for empty in ("", "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", "no calendar"):
        with pytest.raises(ToolFailed):
            await titles(empty)


async def test_an_event_without_an_id_is_the_same_in_the_file_that_is_sent_again() -> None:
    text = event(*TIMES, "SUMMARY:Lunch").replace("UID:one\r\n", "")
    again = text.replace("DTSTAMP:20261101T000000Z", "DTSTAMP:20261102T000000Z")
    [one], [two] = [(await read_event_file(each, BERLIN, frozenset(), "k")).events for each in (text, again)]
    assert one.occurrence.uid == two.occurrence.uid != ""


async def test_times_without_a_zone_are_in_that_of_the_file() -> None:
    text = event("DTSTART:20261122T100000", "SUMMARY:Call").replace(
        "VERSION:2.0", "VERSION:2.0\r\nX-WR-TIMEZONE:America/New_York"
    )
    [one] = (await read_event_file(text, BERLIN, frozenset(), "k")).events
    assert (str(one.occurrence.start), one.occurrence.zone) == ("2026-11-22 15:00:00+00:00", "America/New_York")
