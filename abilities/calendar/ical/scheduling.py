"""Messages to an event's guests, in the form of iTIP (RFC 5546): an invitation, a cancellation, an answer.

Only the data that guests need is sent: no alarm, no attachment, no notes of other programs.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from icalendar import Calendar, Event
from icalendar.prop import vCalAddress

from abilities.calendar.ical.components import (
    PRODUCT,
    as_text,
    copy_zones,
    events_of,
    guests_of,
    parsed,
)
from abilities.calendar.ical.series import exception_made
from abilities.calendar.types import ItipMethod
from core.children.child_job import Unreadable

_TIMES = ("UID", "RECURRENCE-ID", "DTSTART", "DTEND", "DURATION", "SUMMARY")
_KEPT: Mapping[ItipMethod, Sequence[str]] = {
    ItipMethod.REQUEST: (*_TIMES, "RRULE", "RDATE", "EXDATE", "LOCATION", "DESCRIPTION", "STATUS", "TRANSP", "CLASS"),
    ItipMethod.CANCEL: (*_TIMES, "RRULE", "RDATE", "EXDATE", "LOCATION"),
    ItipMethod.REPLY: _TIMES,
}
_OF_SERVERS = ("SCHEDULE-AGENT", "SCHEDULE-STATUS", "SCHEDULE-FORCE-SEND")
"""Parameters that a calendar's server adds to people, which no message may hold (RFC 6638 7)."""


def message(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event, or an occurrence of a series, as the message of a method to its guests."""
    calendar, method = parsed(asked["text"]), ItipMethod(asked["method"])
    made = Calendar()
    made.add("PRODID", PRODUCT)
    made.add("VERSION", "2.0")
    made.add("METHOD", method.value)
    for event in _meant(calendar, method, asked):
        made.add_component(_sent(event, method, asked))
    copy_zones(calendar, made)
    made.add_missing_timezones()
    return {"text": as_text(made)}


def _meant(calendar: Calendar, method: ItipMethod, asked: Mapping[str, Any]) -> Sequence[Event]:
    if asked["recurrence"]:
        return [exception_made(calendar, asked["recurrence"])]
    events = events_of(calendar)
    if method is ItipMethod.CANCEL:
        # Its exceptions go with a series (RFC 5546 3.2.5).
        events = [event for event in events if "RECURRENCE-ID" not in event] or events
    if method is ItipMethod.REPLY:
        events = [event for event in events if any(address in asked["own"] for address in guests_of(event))]
    if not events:
        raise Unreadable("no_guest" if method is ItipMethod.REPLY else "empty")
    return events


def _sent(event: Event, method: ItipMethod, asked: Mapping[str, Any]) -> Event:
    sent = Event()
    for name in _KEPT[method]:
        if name in event:
            sent[name] = event[name]
    sent.add("DTSTAMP", datetime.fromisoformat(asked["now"]))
    # A message that ends an event, or a guest's part in it, is newer than the invitation (RFC 5546 3.2.5).
    sent.add("SEQUENCE", int(event.get("SEQUENCE", 0)) + (method is ItipMethod.CANCEL))
    if method is ItipMethod.CANCEL and not asked["uninvites"]:
        sent.add("STATUS", "CANCELLED")
    organizer = event.get("ORGANIZER")
    sent.add("ORGANIZER", _plain(organizer) if organizer else vCalAddress(f"mailto:{min(asked['own'])}"), encode=False)
    for guest in _guests(event, method, asked):
        sent.add("ATTENDEE", _plain(guest), encode=False)
    return sent


def _guests(event: Event, method: ItipMethod, asked: Mapping[str, Any]) -> Sequence[Any]:
    known = guests_of(event)
    match method:
        case ItipMethod.REQUEST:
            return [*known.values()]
        case ItipMethod.CANCEL:
            return [guest for address, guest in known.items() if address in asked["to"]]
        case ItipMethod.REPLY:
            # A single answer, even if the person is invited under several addresses (RFC 5546 3.2.3).
            return [guest for address, guest in known.items() if address in asked["own"]][:1]


def _plain(person: Any) -> Any:
    for name in _OF_SERVERS:
        person.params.pop(name, None)
    return person
