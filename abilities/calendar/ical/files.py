"""Calendar files that people send: their contents, and each event as it would be written into a calendar.

Only an event's time, place and texts are taken from a file: nothing that runs, rings, is fetched, or is sent to others.
Written events are built from the result of `whole`, which a card shows: nothing else of a file is written.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from icalendar import Calendar, Event
from icalendar.prop import vCalAddress, vRecur, vText

from abilities.calendar.ical.components import (
    KEY,
    PRODUCT,
    REPEATING,
    as_text,
    check_often,
    described,
    events_of,
    in_utc,
    leave_out_broken,
    legible_in,
    max_of,
    plain,
    rule_of,
    times_in,
    value_of,
    values_in,
)
from abilities.calendar.types import MAX_SHOWN_TEXT
from core.children.child_job import Unreadable

type Time = datetime | date

MAX_EVENTS = 50
MAX_RULE = 300
MAX_LINK = 500
MAX_SHOWN_GUESTS = 20
MAX_TIMES = 50
"""Starts of a series that it lists besides its rule, or leaves out."""
OF_FILES = (
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
    "ORGANIZER",
    "ATTENDEE",
    "LAST-MODIFIED",
    KEY,
)
"""Properties that a newer state of an event adds or removes; all others in a calendar are its person's own."""
_LINK = re.compile(r"(?:https?://|tel:|mailto:)[!-~]+", re.IGNORECASE)
_ADDRESS = re.compile(r"[^@\s\"<>]+@[^@\s\"<>]+")
_ANSWERS = ("needs-action", "accepted", "declined", "tentative", "delegated")
_MONTHS = 14
"""For how many months a zone's clock is held against another's."""
_MAX_SEQUENCE = 2**31 - 1
_MAX_YEARS = 50


def read_file(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the events of a file. People stay in an event only if another person invites its person.

    An unreadable property is left out, but an unreadable recurrence costs the event: a series is added completely or
    not at all.
    """
    calendar, own = legible_in(asked["text"]), set(asked["own"])
    zone = _zone_of_file(calendar, ZoneInfo(asked["zone"]))
    found, left_out = list[dict[str, Any]](), 0
    for events in _series_in(calendar):
        try:
            if len(found) >= MAX_EVENTS:
                raise Unreadable("large")
            lost = [leave_out_broken(event) for event in events]
            if any(names & REPEATING for names in lost):
                raise Unreadable("broken")
            check_often(events)
            found.append(_taken(events, zone, own, asked["key"]))
        except Unreadable:
            left_out += 1
    if not found:
        raise Unreadable("empty" if not left_out else "broken")
    method = plain(calendar.get("METHOD", ""), 20).upper()
    return {"method": method, "events": found, "left_out": left_out}


def _series_in(calendar: Calendar) -> list[list[Event]]:
    """Return the events, those of a series together. An event without an id gets an id made from its words.

    Some programs give each event of a file the same id: each that is not an exception of another is an event of its
    own.
    """
    series: dict[str, list[Event]] = {}
    for event in events_of(calendar):
        uid = str(event.get("UID", ""))
        alone = "RECURRENCE-ID" not in event
        if not uid or (alone and any("RECURRENCE-ID" not in other for other in series.get(uid, ()))):
            uid = f"{uid}{'-' if uid else ''}{_digest(event)}"
            event["UID"] = vText(uid)
        series.setdefault(uid, []).append(event)
    return [*series.values()]


def _digest(event: Event) -> str:
    said = sorted(f"{name}:{value}" for name, value in event.property_items(recursive=False) if name != "DTSTAMP")
    return sha256("\n".join(said).encode()).hexdigest()[:32]


def _zone_of_file(calendar: Calendar, zone: ZoneInfo) -> ZoneInfo:
    """Return the zone of times without a zone: the zone that the file names, else the person's."""
    named = str(calendar.get("X-WR-TIMEZONE", "")).strip()
    return ZoneInfo(named) if named in available_timezones() else zone


def whole(event: Event, zone: ZoneInfo) -> dict[str, Any]:
    """Return an event with all data for its card. Raises `Unreadable` if a card could not hold it."""
    rules = values_in(event, "RRULE")
    if len(rules) > 1 or "EXRULE" in event or any(len(rule.to_ical()) > MAX_RULE for rule in rules):
        raise Unreadable("broken")
    seen, link = described(event, zone, rule_of(event)), plain(event.get("URL", ""), MAX_LINK)
    guests = [guest for guest in seen["guests"] if _ADDRESS.fullmatch(guest["address"])]
    return seen | {
        "zone": (seen["zone"] or "UTC") if isinstance(event.start, datetime) else "",
        "text": plain(event.get("DESCRIPTION", ""), MAX_SHOWN_TEXT, lines=True),
        "link": link if _LINK.fullmatch(link) else "",
        "guests": [guest | {"answer": guest["answer"] if guest["answer"] in _ANSWERS else ""} for guest in guests],
        "also": [in_utc(time, zone) for time in _listed(event, "RDATE")],
        "without": [in_utc(time, zone) for time in _listed(event, "EXDATE")],
        "instead": in_utc(value_of(event, "RECURRENCE-ID").dt, zone) if "RECURRENCE-ID" in event else "",
    }


def _taken(events: list[Event], zone: ZoneInfo, own: set[str], key: str) -> dict[str, Any]:
    master = next((event for event in events if "RECURRENCE-ID" not in event), events[0])
    if len([event for event in events if "RECURRENCE-ID" not in event]) > 1:
        raise Unreadable("broken")
    seen = whole(master, zone)
    invited = seen["organizer"] and seen["organizer"]["address"] not in own
    invited = bool(invited) and any(guest["address"] in own for guest in seen["guests"])
    repeats = bool(seen["rule"] or seen["instead"])
    made = Calendar()
    made.add("PRODID", PRODUCT)
    made.add("VERSION", "2.0")
    for event in events:
        written = _written(event, whole(event, zone), zone, repeats=repeats)
        if invited:
            _invite(written, whole(event, zone), own)
        written.add(KEY, key)
        made.add_component(written)
    parts = [whole(event, zone) for event in events_of(made)]
    years = [value_of(event, "DTSTART").dt.year for event in events_of(made)]
    # The definitions that a file brings are left out: another clock may hide behind the name of a zone.
    first = max(min(years) - 1, 1)
    made.add_missing_timezones(date(first, 1, 1), date(min(max(years) + 10, first + _MAX_YEARS, 9999), 1, 1))
    return {"occurrence": parts[events.index(master)], "text": as_text(made), "parts": parts}


def _written(event: Event, seen: Mapping[str, Any], zone: ZoneInfo, *, repeats: bool) -> Event:
    """Return an event built from its shown data, and from the numbers that order its states."""
    made = Event()
    made.add("UID", seen["uid"])
    stamped = getattr(event.get("DTSTAMP"), "dt", None)
    if isinstance(stamped, datetime):
        made.add("DTSTAMP", stamped.astimezone(UTC) if stamped.tzinfo else stamped.replace(tzinfo=UTC))
    made.add("SEQUENCE", min(max(int(event.get("SEQUENCE", 0)), 0), _MAX_SEQUENCE))
    start, end = _timed(event.start, zone, repeats=repeats), max_of(event.start, event.end, zone)
    made.add("DTSTART", start)
    if in_utc(end, zone) != seen["start"]:
        made.add("DTEND", _as_in(end, start, zone))
    if seen["instead"]:
        instead = value_of(event, "RECURRENCE-ID")
        if "RANGE" in instead.params:
            raise Unreadable("broken")  # all from there on, which no calendar program writes any more
        made.add("RECURRENCE-ID", _as_in(instead.dt, start, zone))
    if "RRULE" in event:
        made.add("RRULE", vRecur.from_ical(seen["rule"]))
    for name in ("RDATE", "EXDATE"):
        for time in _listed(event, name):
            made.add(name, _as_in(time, start, zone))
    for name, words in (("SUMMARY", "title"), ("LOCATION", "location"), ("DESCRIPTION", "text"), ("URL", "link")):
        if seen[words]:
            made.add(name, seen[words])
    if seen["cancelled"] or seen["tentative"]:
        made.add("STATUS", "CANCELLED" if seen["cancelled"] else "TENTATIVE")
    made.add("TRANSP", "OPAQUE" if seen["busy"] else "TRANSPARENT")
    return made


def _invite(made: Event, seen: Mapping[str, Any], own: set[str]) -> None:
    """Write who invites and who is invited, the person first: a card names no more than it has room for."""
    organizer = seen["organizer"]
    if organizer and _ADDRESS.fullmatch(organizer["address"]):
        made.add("ORGANIZER", _person(organizer), encode=False)
    guests = sorted(seen["guests"], key=lambda guest: guest["address"] not in own)
    for guest in guests[:MAX_SHOWN_GUESTS]:
        person = _person(guest)
        if guest["answer"]:
            person.params["PARTSTAT"] = guest["answer"].upper()
        made.add("ATTENDEE", person, encode=False)


def _person(seen: Mapping[str, Any]) -> vCalAddress:
    person = vCalAddress(f"mailto:{seen['address']}")
    if name := seen["name"].replace('"', ""):
        person.params["CN"] = name
    return person


def _listed(event: Event, name: str) -> list[Time]:
    """Return the starts that a series lists."""
    times = times_in(event, name)
    if len(times) > MAX_TIMES:
        raise Unreadable("large")
    if len(times) < sum(len(values.dts) for values in values_in(event, name)):
        raise Unreadable("broken")  # spans
    return times


def _timed(at: Time, zone: ZoneInfo, *, repeats: bool) -> Time:
    """Return a start in a zone with a known name; a start without a zone is in the person's."""
    if not isinstance(at, datetime):
        return at
    if at.tzinfo is None:
        return at.replace(tzinfo=zone)
    if isinstance(at.tzinfo, ZoneInfo) and at.tzinfo.key != "UTC":
        return at
    if not repeats:
        return at.astimezone(zone)
    return at.astimezone(UTC if at.tzinfo is UTC or isinstance(at.tzinfo, ZoneInfo) else _zone_like(at, zone))


def _as_in(at: Time, start: Time, zone: ZoneInfo) -> Time:
    """Return a time in the zone of a start."""
    if not isinstance(at, datetime):
        return at
    aware = at if at.tzinfo else at.replace(tzinfo=zone)
    return aware.astimezone(start.tzinfo if isinstance(start, datetime) else zone)


def _zone_like(at: datetime, zone: ZoneInfo) -> ZoneInfo:
    """Return the named zone whose clock agrees with a zone defined in the file."""
    moments = [(at + timedelta(days=30 * month)).replace(tzinfo=None) for month in range(_MONTHS)]
    shown = [moment.replace(tzinfo=at.tzinfo).utcoffset() for moment in moments]
    for name in (zone.key, *sorted(available_timezones())):
        known = ZoneInfo(name)
        if shown == [moment.replace(tzinfo=known).utcoffset() for moment in moments]:
            return known
    raise Unreadable("broken")
