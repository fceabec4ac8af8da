"""Messages to those at an event: what of it goes out, to whom, and as what (RFC 5546)."""

from typing import Any

import pytest
from icalendar import Calendar

from abilities.calendar.ical.answering import answer
from abilities.calendar.ical.components import events_of
from core.children.child_job import Unreadable
from tests.abilities.calendar.samples import NOW, change, event

MEETING = event(
    "DTSTART;TZID=Europe/Berlin:20261125T140000",
    "DTEND;TZID=Europe/Berlin:20261125T150000",
    "SUMMARY:Planning",
    "DESCRIPTION:Bring numbers",
    "SEQUENCE:3",
    "X-ONEVALET-KEY:abc",
    "X-PRIVATE:secret",
    "ATTACH:https://example.org/secret",
    "COMMENT:secret",
    "ORGANIZER;SCHEDULE-AGENT=CLIENT:mailto:ann@example.org",
    "ATTENDEE;PARTSTAT=ACCEPTED;SCHEDULE-STATUS=1.1:mailto:bob@example.org",
    "ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:Carol@example.org",
    "BEGIN:VALARM",
    "ACTION:DISPLAY",
    "DESCRIPTION:secret",
    "TRIGGER:-PT5M",
    "END:VALARM",
)
WEEKLY = MEETING.replace("SUMMARY:Planning", "RRULE:FREQ=WEEKLY;COUNT=5\r\nSUMMARY:Planning")
THIRD = "20261209T130000Z"


def asked(text: str, method: str, **more: Any) -> str:
    """Return what the child process makes of an event."""
    given = {"to": [], "own": ["ann@example.org"], "recurrence": "", "uninvites": False, "key": "k", "now": NOW}
    return str(answer({"do": "message", "text": text, "method": method, **given, **more})["text"])


def test_an_invitation_holds_what_guests_need_and_nothing_private() -> None:
    sent = asked(MEETING, "REQUEST")
    assert "secret" not in sent
    assert "X-ONEVALET" not in sent
    assert "SCHEDULE-" not in sent
    for line in ("METHOD:REQUEST", "UID:one", "SEQUENCE:3", "SUMMARY:Planning", "DESCRIPTION:Bring numbers"):
        assert f"\r\n{line}\r\n" in sent, line
    assert "DTSTART;TZID=Europe/Berlin:20261125T140000" in sent
    assert "BEGIN:VTIMEZONE" in sent
    assert "ORGANIZER:mailto:ann@example.org" in sent
    assert sent.count("ATTENDEE") == 2
    assert "DTSTAMP:20261121T120000Z" in sent, "when the message was made"


def test_a_cancellation_is_newer_and_names_whom_it_is_for() -> None:
    both = ["bob@example.org", "carol@example.org"]
    sent = asked(MEETING, "CANCEL", to=both)
    assert "\r\nSTATUS:CANCELLED\r\n" in sent
    assert "\r\nSEQUENCE:4\r\n" in sent
    assert sent.count("ATTENDEE") == 2
    sent = asked(MEETING, "CANCEL", to=["bob@example.org"], uninvites=True)
    assert "STATUS" not in sent, "the event takes place for the others"
    assert "mailto:bob@example.org" in sent
    assert "Carol" not in sent


def test_an_answer_holds_one_guest() -> None:
    sent = asked(MEETING, "REPLY", own=["bob@example.org", "carol@example.org"])
    [held] = events_of(Calendar.from_ical(sent))
    assert sent.count("ATTENDEE") == 1
    assert "ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob@example.org" in sent
    assert "DESCRIPTION" not in held
    assert "\r\nSEQUENCE:3\r\n" in sent
    with pytest.raises(Unreadable, match="no_guest"):
        asked(MEETING, "REPLY", own=["eve@example.org"])


def test_of_a_series_one_occurrence_or_all_of_it_goes_out() -> None:
    [moved] = change(WEEKLY, THIRD, "this", start="2026-12-09T16:00", end="2026-12-09T17:00")
    one = asked(moved, "REQUEST", recurrence=THIRD)
    assert "RRULE:FREQ=WEEKLY" not in one
    assert "RECURRENCE-ID;TZID=Europe/Berlin:20261209T140000" in one
    assert "DTSTART;TZID=Europe/Berlin:20261209T160000" in one
    every = asked(moved, "REQUEST")
    assert every.count("BEGIN:VEVENT") == 2
    gone = asked(moved, "CANCEL", to=["bob@example.org"])
    assert gone.count("BEGIN:VEVENT") == 1
    assert "RECURRENCE-ID" not in gone


@pytest.mark.parametrize("method", ["REQUEST", "CANCEL", "REPLY"])
def test_a_broken_event_is_no_message(method: str) -> None:
    with pytest.raises(Unreadable):
        asked("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n", method)
    with pytest.raises(Unreadable):
        asked(MEETING, method, recurrence="never")
