"""What is read of a file, line by line, and which states of an event are newer, without a server."""

from collections.abc import Sequence
from typing import Any

import pytest

from abilities.calendar.ical.files import read_file
from abilities.calendar.ical.updates import updated
from core.children.child_job import Unreadable
from tests.abilities.calendar.samples import change, event, happens, new

ANN, BERLIN = "ann@example.org", "Europe/Berlin"
MASTER = (
    "DTSTART;TZID=Europe/Berlin:20261125T140000",
    "DTEND;TZID=Europe/Berlin:20261125T150000",
    "SUMMARY:Review",
    "LOCATION:Room 2",
    "DESCRIPTION:Bring notes",
    "URL:https://x.example/r",
    "SEQUENCE:3",
    "STATUS:TENTATIVE",
    "RRULE:FREQ=WEEKLY;COUNT=4",
    "EXDATE;TZID=Europe/Berlin:20261202T140000",
    "ORGANIZER;CN=Bob:mailto:bob@example.org",
    "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ann@example.org",
    "ATTENDEE;CN=Carl;PARTSTAT=ACCEPTED:mailto:carl@example.org",
)
INSTEAD = "RECURRENCE-ID;TZID=Europe/Berlin:20261209T140000"
EXCEPTION = (
    INSTEAD,
    "DTSTART;TZID=Europe/Berlin:20261209T160000",
    "DTEND;TZID=Europe/Berlin:20261209T173000",
    "SUMMARY:Late review",
    "STATUS:CANCELLED",
)


def file(*events: Sequence[str]) -> str:
    """Return a file of the events of one series."""
    parts = [event(*lines, uid="review").partition("BEGIN:VEVENT") for lines in events]
    held = "".join(f"{began}{rest.partition('END:VCALENDAR')[0]}" for _, began, rest in parts)
    return f"{parts[0][0]}{held}END:VCALENDAR\r\n"


def read(text: str) -> dict[str, Any]:
    return read_file({"text": text, "own": [ANN], "zone": BERLIN, "key": "k1"})


def lines(text: str) -> list[str]:
    """Return the lines of the events of an object."""
    return text.partition("BEGIN:VEVENT")[2].replace("\r\n ", "").splitlines()


def test_an_invitation_to_a_series_is_kept_with_all_that_it_says() -> None:
    told = read(file(MASTER, EXCEPTION).replace("VERSION:2.0", "VERSION:2.0\r\nMETHOD:request"))
    [taken] = told["events"]
    assert (told["method"], told["left_out"], taken["occurrence"]) == ("REQUEST", 0, taken["parts"][0])
    first, _, second = ("\n".join(lines(taken["text"]))).partition("BEGIN:VEVENT")
    kept = {*MASTER, "TRANSP:OPAQUE", "X-ONEVALET-KEY:k1", "UID:review", "DTSTAMP:20261101T000000Z", "END:VEVENT"}
    assert {*first.split("\n")} - {""} == kept
    assert {*EXCEPTION, "SEQUENCE:0", "TRANSP:TRANSPARENT", "X-ONEVALET-KEY:k1"} < {*second.split("\n")}
    master, exception = taken["parts"]
    assert master | {"organizer": None, "guests": []} == {
        "uid": "review", "start": "2026-11-25T13:00:00+00:00", "end": "2026-11-25T14:00:00+00:00", "zone": BERLIN,
        "title": "Review", "location": "Room 2", "text": "Bring notes", "cancelled": False, "tentative": True,
        "busy": True, "organizer": None, "guests": [], "rule": "FREQ=WEEKLY;COUNT=4", "recurrence": "", "key": "k1",
        "link": "https://x.example/r", "also": [], "without": ["2026-12-02T13:00:00+00:00"], "instead": "",
    }  # fmt: skip
    assert master["organizer"] == {"address": "bob@example.org", "name": "Bob", "answer": ""}
    assert [(guest["address"], guest["name"], guest["answer"]) for guest in master["guests"]] == [
        (ANN, "", "needs-action"),
        ("carl@example.org", "Carl", "accepted"),
    ]
    assert (exception["cancelled"], exception["busy"], exception["guests"]) == (True, False, [])
    assert (exception["instead"], exception["recurrence"]) == ("2026-12-09T13:00:00+00:00", "20261209T130000Z")


def test_an_occurrence_that_stands_for_all_later_ones_is_refused() -> None:
    later = INSTEAD.replace(";", ";RANGE=THISANDFUTURE;", 1)
    with pytest.raises(Unreadable, match="broken"):
        read(file(MASTER, (later, *EXCEPTION[1:])))


@pytest.mark.parametrize(
    ("number", "stamp", "cancels", "effect"),
    [
        (4, "20261101T000000Z", False, "update"),
        (3, "20261102T000000Z", False, "update"),
        (3, "20261101T000000Z", False, "there"),
        (2, "20261102T000000Z", False, "older"),
        (4, "20261101T000000Z", True, "cancel"),
        (3, "20261031T000000Z", True, "cancel"),
        (2, "20261102T000000Z", True, "older"),
    ],
)
def test_a_state_is_newer_by_its_number_then_its_stamp(number: int, stamp: str, cancels: bool, effect: str) -> None:
    stored = read(file(MASTER))["events"][0]["text"]
    sent = stored.replace("SEQUENCE:3", f"SEQUENCE:{number}").replace("DTSTAMP:20261101T000000Z", f"DTSTAMP:{stamp}")
    asked = {"text": stored, "sent": sent.replace("SUMMARY:Review", "SUMMARY:Sync"), "own": [ANN], "zone": BERLIN}
    assert updated(asked | {"cancels": cancels, "key": "k2"})["effect"] == effect


def test_words_for_all_days_reach_the_moved_day_without_words_of_its_own() -> None:
    weekly = new("2026-10-12T09:00:00", "2026-10-12T10:00:00", rule="FREQ=WEEKLY;COUNT=3")
    [moved] = change(weekly, happens(weekly)[1]["recurrence"], "this", start="2026-10-20T11:00:00")
    [placed] = change(moved, location="Room 2")
    assert [one["location"] for one in happens(placed)] == ["Room 2"] * 3
    [own] = change(placed, happens(placed)[1]["recurrence"], "this", location="Room 3")
    [all_of_it] = change(own, location="Room 4")
    assert [one["location"] for one in happens(all_of_it)] == ["Room 4", "Room 3", "Room 4"]
