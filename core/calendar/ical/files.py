"""Calendar files that people send: what is in them, and each event as it would be written into a calendar.

Of a file only what says when, where and what is taken over: nothing that runs, rings, is fetched, or is sent to others.
"""

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Calendar, Event

from core.calendar.ical.components import (
    KEY,
    PRODUCT,
    Unreadable,
    as_text,
    copy_zones,
    described,
    events_of,
    parsed,
    plain,
    rule_of,
)

MAX_EVENTS = 50
_KEPT = (
    "UID",
    "DTSTAMP",
    "DTSTART",
    "DTEND",
    "DURATION",
    "RECURRENCE-ID",
    "RRULE",
    "RDATE",
    "EXDATE",
    "SUMMARY",
    "LOCATION",
    "DESCRIPTION",
    "STATUS",
    "TRANSP",
    "SEQUENCE",
    "URL",
)
_PEOPLE = ("ORGANIZER", "ATTENDEE")


def read_file(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the events of a file. People stay in an event only where its person is invited by somebody else."""
    calendar, zone, own = parsed(asked["text"]), ZoneInfo(asked["zone"]), set(asked["own"])
    series: dict[str, list[Event]] = {}
    for event in events_of(calendar):
        series.setdefault(str(event.get("UID", "")), []).append(event)
    found, left_out = list[dict[str, Any]](), 0
    for uid, events in series.items():
        try:
            if len(found) >= MAX_EVENTS or not uid:
                raise Unreadable("large")
            found.append(_taken(calendar, events, zone, own, asked["key"]))
        except Unreadable:
            left_out += 1
    if not found:
        raise Unreadable("empty" if not left_out else "broken")
    method = plain(calendar.get("METHOD", ""), 20).upper()
    return {"method": method, "events": found, "left_out": left_out}


def _taken(calendar: Calendar, events: list[Event], zone: ZoneInfo, own: set[str], key: str) -> dict[str, Any]:
    master = next((event for event in events if "RECURRENCE-ID" not in event), events[0])
    if len([event for event in events if "RECURRENCE-ID" not in event]) > 1:
        raise Unreadable("broken")
    seen = described(master, zone, rule_of(master)) | {"key": key}
    invited = seen["organizer"] and seen["organizer"]["address"] not in own
    invited = invited and any(guest["address"] in own for guest in seen["guests"])
    made = Calendar()
    made.add("PRODID", PRODUCT)
    made.add("VERSION", "2.0")
    for event in events:
        kept = Event()
        for name in (*_KEPT, *(_PEOPLE if invited else ())):
            if name in event:
                kept[name] = event[name]
        kept[KEY] = key
        made.add_component(kept)
    copy_zones(calendar, made)
    made.add_missing_timezones()
    text = as_text(made)
    return {"occurrence": seen, "text": text}
